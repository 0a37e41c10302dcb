import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'
import { base64, checkpointAccount } from './account.fixture.ts'

const app = await testApp()
afterAll(() => app[Symbol.asyncDispose]())
const { client, put, step, write, ids, storedIds } = await checkpointAccount(app)

/** A step of a model: which earlier checkpoint it builds on, and what it does with the delta channel. */
type Step = { parent: number; isFork: boolean; hasSnapshot: boolean; isWritten: boolean; isAbandoned: boolean }

const steps = fc.array(
  fc.record<Step>({
    parent: fc.nat(),
    isFork: fc.boolean(),
    hasSnapshot: fc.integer({ max: 5, min: 0 }).map((side) => side === 0),
    isWritten: fc.boolean(),
    isAbandoned: fc.boolean(),
  }),
  { minLength: 2, maxLength: 12 },
)

const idOf = (number: number) => `cp-${String(number).padStart(3, '0')}`

/**
 * Puts the steps as LangGraph would: a write is a new version of the delta channel, and a value only as a snapshot. A channel
 * that is only declared has no version until then, perhaps never.
 */
const putAll = async (thread_id: string, model: readonly Step[], isCounted: boolean, isDeclared: boolean) => {
  const versions: (string | undefined)[] = []
  for (const [number, { parent, isFork, hasSnapshot, isWritten, isAbandoned }] of model.entries()) {
    const from = isFork ? parent % Math.max(number, 1) : number - 1
    const inherited = versions[from]
    const isFirst = number === 0 && !isDeclared
    const isNew = isFirst || hasSnapshot || (!isFork && model[from]?.isWritten === true)
    const version = isNew ? idOf(number) : inherited
    versions.push(version)
    const value = hasSnapshot ? { type: 'json', blob: base64(`snapshot ${number}`) } : { type: 'empty' }
    await put(thread_id, idOf(number), {
      checkpoint: { channel_versions: { ...(version !== undefined && { delta: version }), plain: '1' } },
      metadata: isCounted ? { counters_since_delta_snapshot: { delta: [0, 1] } } : {},
      blobs: [
        ...(isNew ? [{ channel: 'delta', version: idOf(number), ...value }] : []),
        { channel: 'plain', version: '1', type: 'json', blob: base64('plain') },
      ],
      ...(number > 0 && { parent_checkpoint_id: idOf(from) }),
    })
    if (isWritten) await write(thread_id, idOf(number), 'delta')
    else if (isAbandoned) await write(thread_id, idOf(number), 'abandoned')
  }
}

/** What LangGraph rebuilds the delta channel from: the value that a checkpoint holds itself, or else its history. */
const stateOf = async (thread_id: string, checkpoint_id: string) => {
  const tuple = await client.getCheckpointTuple({ body: { thread_id, checkpoint_id } })
  const own = tuple?.blobs.find(({ channel, blob }) => channel === 'delta' && blob !== null)
  return own ?? (await client.getDeltaHistory({ body: { thread_id, checkpoint_id, channels: ['delta'] } }))
}

test('a delta channel with forks and snapshots is the same after prunes, for each checkpoint that they keep', async () => {
  let threads = 0
  await fc.assert(
    fc.asyncProperty(steps, fc.boolean(), fc.boolean(), fc.integer({ min: 1, max: 4 }), async (...drawn) => {
      const [model, isCounted, isDeclared, keep_last] = drawn
      const thread_id = `model-${(threads += 1)}`
      // Where nothing is counted, only versions tell that a channel is a delta.
      await putAll(thread_id, model, isCounted, isCounted && isDeclared)
      for (const last of [keep_last, 1]) {
        const kept = (await ids(thread_id)).slice(0, last)
        const before = await Promise.all(kept.map((id) => stateOf(thread_id, id)))
        await client.pruneCheckpoints({ body: { thread_ids: [thread_id], keep_last: last } })
        const after = await Promise.all(kept.map((id) => stateOf(thread_id, id)))
        expect(after).toEqual(before)
      }
    }),
    { numRuns: 60 },
  )
})

test('a delta channel that was never written needs nothing of what came before', async () => {
  const metadata = { counters_since_delta_snapshot: { never: [0, 1] } }
  for (let number = 1; number <= 5; number += 1) await step('never', number, { metadata })
  await client.pruneCheckpoints({ body: { thread_ids: ['never'], keep_last: 1 } })
  expect(await storedIds('never')).toEqual(['cp-5'])
})

test('a delta channel that was written late needs nothing of what came before its first write', async () => {
  const metadata = { counters_since_delta_snapshot: { late: [0, 1] } }
  for (let number = 1; number <= 6; number += 1) {
    const late = number > 3 ? { late: `cp-${number}` } : {}
    await step('late', number, { metadata, checkpoint: { channel_versions: { c: `cp-${number}`, ...late } } })
    if (number >= 3) await write('late', `cp-${number}`, 'late')
  }
  const history = () => client.getDeltaHistory({ body: { thread_id: 'late', channels: ['late'] } })
  const before = await history()
  expect(before.channels[0]!.writes).toHaveLength(3)
  await client.pruneCheckpoints({ body: { thread_ids: ['late'], keep_last: 1 } })
  expect([await storedIds('late'), await history()]).toEqual([['cp-6', 'cp-5', 'cp-4', 'cp-3'], before])
})

test('a write that was abandoned for new input is no delta: what came before it may go', async () => {
  for (let number = 1; number <= 5; number += 1) {
    await step('abandoned', number)
    await write('abandoned', `cp-${number}`, 'never valued')
  }
  await client.pruneCheckpoints({ body: { thread_ids: ['abandoned'], keep_last: 1 } })
  expect(await storedIds('abandoned')).toEqual(['cp-5'])
})

test('a write to what branches lead through is no delta, though it has a version and no value', async () => {
  for (let number = 1; number <= 5; number += 1) {
    const checkpoint = { channel_versions: { c: `cp-${number}`, 'branch:to:next': '1' } }
    await step('branch', number, { checkpoint })
    await write('branch', `cp-${number}`, 'branch:to:next')
  }
  await client.pruneCheckpoints({ body: { thread_ids: ['branch'], keep_last: 1 } })
  expect(await storedIds('branch')).toEqual(['cp-5'])
})

test('where checkpoints name no versions, a write may be a delta, and all of its chain stays', async () => {
  for (let number = 1; number <= 3; number += 1) {
    await step('unknown', number, { checkpoint: {}, blobs: [] })
    await write('unknown', `cp-${number}`)
  }
  await client.pruneCheckpoints({ body: { thread_ids: ['unknown'], keep_last: 1 } })
  expect(await storedIds('unknown')).toEqual(['cp-3', 'cp-2', 'cp-1'])
})
