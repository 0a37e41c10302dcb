import { afterAll, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'
import { checkpointAccount, codeOf } from './account.fixture.ts'

const app = await testApp({ maxTupleBytes: 100_000 })
afterAll(() => app[Symbol.asyncDispose]())
const { client, put } = await checkpointAccount(app)

const blobOf = (bytes: number, version: string) => ({
  channel: 'c',
  version,
  type: 'bytes',
  blob: Buffer.alloc(bytes).toString('base64'),
})
const step = (checkpoint_id: string, bytes: number, parent?: string) =>
  put('t', checkpoint_id, {
    checkpoint: { channel_versions: { c: checkpoint_id } },
    blobs: [blobOf(bytes, checkpoint_id)],
    ...(parent !== undefined && { parent_checkpoint_id: parent }),
  })

test('what weighs more than may be answered is refused by name, and what is beside it is still read', async () => {
  await step('cp-1', 60_000)
  await step('cp-2', 110_000, 'cp-1')
  await step('cp-3', 60_000, 'cp-2')
  const list = (more: object = {}) =>
    client.listCheckpoints({ body: { thread_id: 't', include: ['blobs' as const], ...more } })
  expect(await codeOf(client.getCheckpointTuple({ body: { thread_id: 't', checkpoint_id: 'cp-2' } }))).toBe(
    'tuple_too_large',
  )
  expect(await client.getCheckpointTuple({ body: { thread_id: 't' } })).toMatchObject({ checkpoint_id: 'cp-3' })
  expect((await list()).map(({ checkpoint_id }) => checkpoint_id)).toEqual(['cp-3'])
  expect(await codeOf(list({ before_checkpoint_id: 'cp-3' }))).toBe('tuple_too_large')
  expect((await list({ include: [] })).map(({ checkpoint_id }) => checkpoint_id)).toEqual(['cp-3', 'cp-2', 'cp-1'])
})

test('pending writes and the history of a delta channel count as well', async () => {
  await put('writes', 'cp-1')
  await put('writes', 'cp-2', { parent_checkpoint_id: 'cp-1' })
  const history = () => client.getDeltaHistory({ body: { thread_id: 'writes', channels: ['c'] } })
  const tuple = () => client.getCheckpointTuple({ body: { thread_id: 'writes', checkpoint_id: 'cp-1' } })
  for (const [task_id, outcome] of [
    ['a', 'ok'],
    ['b', 'tuple_too_large'],
  ] as const) {
    const { version: _, ...write } = { ...blobOf(60_000, ''), task_id, idx: 0 }
    await client.putCheckpointWrites({ body: { thread_id: 'writes', checkpoint_id: 'cp-1', writes: [write] } })
    expect([await codeOf(tuple()), await codeOf(history())]).toEqual([outcome, outcome])
  }
})

test('many values without a byte count as well', async () => {
  const { client: other, put: putOther } = await checkpointAccount(app)
  await putOther('many', 'cp-1')
  const writesOf = (task_id: string) =>
    Array.from({ length: 60 }, (_, idx) => ({ task_id, idx, channel: 'c', type: 'null', blob: '' }))
  const tuple = () => codeOf(other.getCheckpointTuple({ body: { thread_id: 'many' } }))
  for (const [task_id, outcome] of [
    ['a', 'ok'],
    ['b', 'tuple_too_large'],
  ] as const) {
    const body = { thread_id: 'many', checkpoint_id: 'cp-1', writes: writesOf(task_id) }
    await other.putCheckpointWrites({ body })
    expect(await tuple()).toBe(outcome)
  }
})
