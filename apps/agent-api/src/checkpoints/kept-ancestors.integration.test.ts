import { afterAll, describe, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'
import { base64, checkpointAccount, codeOf } from './account.fixture.ts'
import { findDoomed } from './doomed.ts'
import { carryOut } from './remove-checkpoints.ts'
import { sweepCheckpoints } from './sweep-checkpoints.ts'

const app = await testApp()
afterAll(() => app[Symbol.asyncDispose]())
const { client, put, write, ids, storedIds } = await checkpointAccount(app)

const idOf = (number: number) => `cp-${String(number).padStart(3, '0')}`

/** A chain that is rebuilt from its first checkpoint; the last holds a value again when `isSnapshot`. */
const chain = async (thread_id: string, length: number, isSnapshot = false) => {
  for (let number = 1; number <= length; number += 1) {
    const version = `v${number}`
    const isValue = number === 1 || (isSnapshot && number === length)
    await put(thread_id, idOf(number), {
      metadata: { counters_since_delta_snapshot: { d: [0, 1] } },
      checkpoint: { channel_versions: { d: version } },
      blobs: [{ channel: 'd', version, ...(isValue ? { type: 'json', blob: base64('seed') } : { type: 'empty' }) }],
      ...(number > 1 && { parent_checkpoint_id: idOf(number - 1) }),
    })
    await write(thread_id, idOf(number), 'd')
  }
}

const prune = (thread_id: string) => client.pruneCheckpoints({ body: { thread_ids: [thread_id], keep_last: 1 } })

const historyOf = (thread_id: string, checkpoint_id?: string) =>
  client.getDeltaHistory({ body: { thread_id, channels: ['d'], ...(checkpoint_id && { checkpoint_id }) } })

describe('a checkpoint that is only kept for others', () => {
  const buildsOn = async (thread_id: string) => [
    await codeOf(put(thread_id, idOf(9), { parent_checkpoint_id: idOf(2) })),
    await codeOf(put(thread_id, idOf(9), { checkpoint_ns: 'sub', metadata: { parents: { '': idOf(2) } } })),
    await codeOf(write(thread_id, idOf(2), 'd')),
  ]
  const refused = Array(3).fill('thread_deleted')

  test('takes no writes and is not built on or put again', async () => {
    await chain('pruned', 4)
    await prune('pruned')
    const before = await historyOf('pruned')
    expect(await buildsOn('pruned')).toEqual(refused)
    expect(await codeOf(put('pruned', idOf(2), { parent_checkpoint_id: idOf(1) }))).toBe('thread_deleted')
    expect(await historyOf('pruned')).toEqual(before)
  })

  test('is not built on in a copy either', async () => {
    await chain('source', 4)
    await prune('source')
    await client.copyThread({ body: { source_thread_id: 'source', target_thread_id: 'copy' } })
    expect(await buildsOn('copy')).toEqual(refused)
    expect(await codeOf(put('copy', idOf(9), { parent_checkpoint_id: idOf(4) }))).toBe('ok')
  })

  test('is not built on when the deletion is forgotten', async () => {
    await chain('old', 4)
    await prune('old')
    await app.db.sql`
      update agent.threads set deleted_at = now() - interval '8 days', updated_at = now() - interval '8 days'
      where account_id = ${client.account_id} and thread_id = 'old'`
    await sweepCheckpoints(app.db)
    expect(await buildsOn('old')).toEqual(refused)
  })
})

test('what a prune has not come to yet can be forked, and is whole', async () => {
  await chain('forked', 6, true)
  const removal = { account_id: client.account_id, thread_id: 'forked', isKept: app.db.sql`rank = 1` }
  const plan = await findDoomed(app.db, removal)
  const [namespaces, ids, bytes] = [plan!.namespaces.slice(0, 2), plan!.ids.slice(0, 2), plan!.bytes.slice(0, 2)]
  await carryOut(app.db, removal, { ...plan!, namespaces, ids, bytes })
  const forkOf = (number: number) =>
    codeOf(
      put('forked', idOf(7 + number), {
        parent_checkpoint_id: idOf(number),
        checkpoint: { channel_versions: { d: `f${number}` } },
        blobs: [{ channel: 'd', version: `f${number}`, type: 'empty' }],
      }),
    )
  expect(await Promise.all([1, 2, 3, 4, 5].map(forkOf))).toEqual(['ok', 'ok', 'ok', 'thread_deleted', 'thread_deleted'])
  for (const number of [1, 2, 3]) {
    const { channels } = await historyOf('forked', idOf(7 + number))
    expect(channels[0]).toMatchObject({ seed: { blob: base64('seed') } })
    expect(channels[0]?.writes).toHaveLength(number)
  }
})

test('a prune does what its dry run told, where a branch that goes was the first to write', async () => {
  const branch = async (id: string, parent?: string) => {
    const metadata = { counters_since_delta_snapshot: { d: [0, 1] } }
    await put('branch', id, { metadata, ...(parent && { parent_checkpoint_id: parent }) })
    if (parent) await write('branch', id, 'd')
  }
  await branch('cp-1')
  await branch('cp-2', 'cp-1')
  await branch('cp-3', 'cp-1')
  await put('branch', 'cp-4', {
    parent_checkpoint_id: 'cp-3',
    checkpoint: { channel_versions: { d: 'v4' } },
    blobs: [{ channel: 'd', version: 'v4', type: 'empty' }],
  })
  const body = { thread_ids: ['branch'], keep_last: 1 }
  const told = await client.pruneCheckpoints({ body: { ...body, dry_run: true } })
  expect(await client.pruneCheckpoints({ body })).toEqual(told)
})

test.each([
  { v: 1, kept: ['cp-2', 'cp-1'] },
  { v: 4, kept: ['cp-2'] },
])('sends that a checkpoint of version $v reads from its parent survive a prune', async ({ v, kept }) => {
  const thread_id = `version ${v}`
  const checkpoint = { v, channel_versions: {} }
  await put(thread_id, 'cp-0', { checkpoint })
  await put(thread_id, 'cp-1', { checkpoint, parent_checkpoint_id: 'cp-0' })
  await write(thread_id, 'cp-0', '__pregel_tasks')
  await write(thread_id, 'cp-1', '__pregel_tasks')
  await put(thread_id, 'cp-2', { checkpoint, parent_checkpoint_id: 'cp-1' })
  const sends = async () =>
    (await client.getCheckpointTuple({ body: { thread_id, include: ['parent_pending_sends'] } }))?.parent_pending_sends
  expect(await sends()).toHaveLength(1)
  await prune(thread_id)
  expect(await sends()).toHaveLength(kept.length - 1)
  expect(await storedIds(thread_id)).toEqual(kept)
  expect(await ids(thread_id)).toEqual(['cp-2'])
})

test('writes come before their put, though something newer was deleted in another namespace', async () => {
  const inner = { checkpoint_ns: 'inner' }
  await put('spaces', 'cp-1')
  for (const id of ['cp-2', 'cp-5', 'cp-6']) await put('spaces', id, { checkpoint_ns: 'other' })
  await put('spaces', 'cp-2', inner)
  await put('spaces', 'cp-3', inner)
  await prune('spaces')
  const writesTo = (checkpoint_id: string) =>
    codeOf(
      client.putCheckpointWrites({
        body: {
          thread_id: 'spaces',
          ...inner,
          checkpoint_id,
          writes: [{ task_id: 't', idx: 0, channel: 'c', type: 'json', blob: '' }],
        },
      }),
    )
  expect([await writesTo('cp-4'), await writesTo('cp-2')]).toEqual(['ok', 'thread_deleted'])
})

test('a copy has no writes of checkpoints that it does not have', async () => {
  await put('early', 'cp-1')
  await write('early', 'cp-1')
  await write('early', 'cp-2')
  const counts = await client.copyThread({ body: { source_thread_id: 'early', target_thread_id: 'without' } })
  expect(counts).toMatchObject({ checkpoints: 1, writes: 1 })
})
