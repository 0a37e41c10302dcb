import { checkpoints } from '@keelson/contracts/agent'
import { afterAll, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'

const app = await testApp()
afterAll(() => app[Symbol.asyncDispose]())
const client = await app.client()

const put = (channel_versions: unknown) =>
  client.raw(checkpoints.putCheckpoint, {
    text: JSON.stringify({ thread_id: 't', checkpoint_id: 'cp', checkpoint: { channel_versions } }),
  })

const channels = (count: number, version: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`c-${index}`, version]))

test.each(['1', 1])('a checkpoint names the version %j of 10,000 channels, and of no more', async (version) => {
  expect(await put(channels(10_000, version))).toMatchObject({ status: 200 })
  const { status, text } = await put(channels(10_001, version))
  expect([status, JSON.parse(text).errors]).toEqual([
    422,
    [{ path: 'checkpoint', message: 'must have at most 10000 channel_versions' }],
  ])
})

test('a list of versions is counted too, and a text is none', async () => {
  expect(await put(Array.from({ length: 10_001 }, () => '1'))).toMatchObject({ status: 422 })
  expect(await put('1'.repeat(10_001))).toMatchObject({ status: 200 })
})

test.each(['null', '7', '[]'])('a checkpoint that is %s is 422', async (checkpoint) => {
  const text = `{"thread_id":"t","checkpoint_id":"cp","checkpoint":${checkpoint}}`
  expect(await client.raw(checkpoints.putCheckpoint, { text })).toMatchObject({ status: 422 })
})

test('a put without a checkpoint is 422', async () => {
  const text = '{"thread_id":"t","checkpoint_id":"cp"}'
  expect(await client.raw(checkpoints.putCheckpoint, { text })).toMatchObject({ status: 422 })
})
