import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'
import { base64, checkpointAccount, codeOf } from './account.fixture.ts'

const app = await testApp()
afterAll(() => app[Symbol.asyncDispose]())
const { client, put, step, write, ids, storedIds, threads } = await checkpointAccount(app)

const DELTAS = ['one', 'two'] as const

/** A step of a run: which delta channels it writes, and of which it holds a value. */
type Step = { isFork: boolean; parent: number; written: string[]; snapshots: string[]; run: string }

const steps = fc.array(
  fc.record<Step>({
    isFork: fc.boolean(),
    parent: fc.nat(),
    written: fc.subarray<string>([...DELTAS]),
    snapshots: fc.oneof(
      { weight: 3, arbitrary: fc.constant<string[]>([]) },
      { weight: 1, arbitrary: fc.subarray<string>([...DELTAS]) },
    ),
    run: fc.constantFrom('a', 'b'),
  }),
  { minLength: 2, maxLength: 10 },
)

const idOf = (number: number) => `cp-${String(number).padStart(3, '0')}`

const putAll = async (thread_id: string, model: readonly Step[], isCounted: boolean) => {
  const all: Record<string, string>[] = []
  for (const [number, { isFork, parent, written, snapshots, run }] of model.entries()) {
    const from = isFork ? parent % Math.max(number, 1) : number - 1
    const isNew = (channel: string) =>
      number === 0 || snapshots.includes(channel) || (!isFork && model[from]?.written.includes(channel))
    const fresh = DELTAS.filter(isNew)
    const channel_versions = { ...all[from], ...Object.fromEntries(fresh.map((channel) => [channel, idOf(number)])) }
    all.push(channel_versions)
    const counters = Object.fromEntries(DELTAS.map((channel) => [channel, [0, 1]]))
    await put(thread_id, idOf(number), {
      checkpoint: { channel_versions },
      metadata: { run_id: run, ...(isCounted && { counters_since_delta_snapshot: counters }) },
      blobs: fresh.map((channel) => ({
        channel,
        version: idOf(number),
        ...(snapshots.includes(channel) ? { type: 'json', blob: base64(`${channel} ${number}`) } : { type: 'empty' }),
      })),
      ...(number > 0 && { parent_checkpoint_id: idOf(from) }),
    })
    for (const [at, channel] of written.entries())
      await client.putCheckpointWrites({
        body: {
          thread_id,
          checkpoint_id: idOf(number),
          writes: [{ task_id: channel, idx: at, channel, type: 'json', blob: base64(`${channel} at ${number}`) }],
        },
      })
  }
}

/** What every listed checkpoint is made of: its own values, and the histories of its delta channels. */
const statesOf = async (thread_id: string): Promise<Map<string, unknown>> => {
  const states = new Map<string, unknown>()
  for (const checkpoint_id of await ids(thread_id)) {
    const tuple = await client.getCheckpointTuple({ body: { thread_id, checkpoint_id } })
    const owned = new Set(tuple?.blobs.filter(({ blob }) => blob !== null).map(({ channel }) => channel))
    const channels = DELTAS.filter((channel) => !owned.has(channel))
    const history =
      channels.length > 0 && (await client.getDeltaHistory({ body: { thread_id, checkpoint_id, channels } }))
    states.set(checkpoint_id, { tuple, history })
  }
  return states
}

test('with several delta channels every checkpoint that is listed after a prune or a deletion by run is as it was', async () => {
  let count = 0
  const drawn = [steps, fc.boolean(), fc.integer({ min: 1, max: 3 }), fc.constantFrom('prune', 'run')] as const
  await fc.assert(
    fc.asyncProperty(...drawn, async (model, isCounted, keep_last, first) => {
      const thread_id = `thread-${(count += 1)}`
      await putAll(thread_id, model, isCounted)
      const before = await statesOf(thread_id)
      if (first === 'run') await client.deleteCheckpointsByRun({ body: { run_ids: [`a`] } })
      for (const last of [keep_last, 1]) {
        const expected = (await ids(thread_id)).slice(0, last)
        const prune = (dry_run: boolean) =>
          client.pruneCheckpoints({ body: { thread_ids: [thread_id], keep_last: last, dry_run } })
        const told = await prune(true)
        expect(await prune(false)).toEqual(told)
        const after = await statesOf(thread_id)
        expect([...after.keys()]).toEqual(expected)
        expect([...after]).toEqual(expected.map((id) => [id, before.get(id)]))
      }
    }),
    { numRuns: 60 },
  )
})

test('what is only kept for others is not listed, counted or forked, and is found by its id', async () => {
  const delta = (number: number) => ({ blobs: [{ channel: 'c', version: `cp-${number}`, type: 'empty' }] })
  for (let number = 1; number <= 3; number += 1) {
    await step('t', number, number === 1 ? {} : delta(number))
    await write('t', `cp-${number}`)
  }
  await client.pruneCheckpoints({ body: { thread_ids: ['t'], keep_last: 1 } })
  expect([await ids('t'), await storedIds('t')]).toEqual([['cp-3'], ['cp-3', 'cp-2', 'cp-1']])
  const [thread] = (await client.listThreads({ body: {} })).threads.filter(({ thread_id }) => thread_id === 't')
  expect(thread?.checkpoint_count).toBe(1)
  expect(await codeOf(put('t', 'cp-4', { parent_checkpoint_id: 'cp-2' }))).toBe('thread_deleted')
  const found = await client.getCheckpointTuple({ body: { thread_id: 't', checkpoint_id: 'cp-2' } })
  expect(found?.checkpoint_id).toBe('cp-2')

  await client.copyThread({ body: { source_thread_id: 't', target_thread_id: 'copy' } })
  expect([await ids('copy'), await storedIds('copy')]).toEqual([['cp-3'], ['cp-3', 'cp-2', 'cp-1']])
  await client.deleteThread({ body: { thread_id: 't' } })
  expect([await storedIds('t'), await threads()]).toEqual([[], expect.not.arrayContaining(['t'])])
})
