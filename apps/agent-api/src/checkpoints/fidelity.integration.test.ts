import { checkpoints } from '@keelson/contracts/agent'
import { afterAll, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'

const app = await testApp()
afterAll(() => app[Symbol.asyncDispose]())
const client = await app.client()

const CHECKPOINT = String.raw`{ "big":12345678901234567890, "one":1.0, "nul":"\u0000", "lone":"\ud800", "a":1,"a":2, "e":1E400, "é":"😀" }`

const send = (route: keyof typeof checkpoints, text: string) => client.raw(checkpoints[route], { text })

test('checkpoint and metadata come back as the text that was put', async () => {
  const put = await send(
    'putCheckpoint',
    `{"thread_id":"exact","checkpoint_id":"cp","checkpoint":${CHECKPOINT},"metadata":${CHECKPOINT}}`,
  )
  expect(put.status).toBe(200)
  const { text } = await send('getCheckpointTuple', '{"thread_id":"exact"}')
  expect(text).toContain(`"checkpoint":${CHECKPOINT}`)
  expect(text).toContain(`"metadata":${CHECKPOINT}`)
  const listed = await send(
    'listCheckpoints',
    String.raw`{"thread_id":"exact","filter_metadata":{"nul":"\u0000","a":2,"big":12345678901234567890}}`,
  )
  expect(listed.text).toContain(`"metadata":${CHECKPOINT}`)
})

test.each([
  ['1', '1'],
  ['1.0', '1.0'],
  ['"1.0"', '1.0'],
  ['2.5e-3', '"2.5e-3"'],
  ['12345678901234567890', '12345678901234567890'],
  ['"00000000000000000000000000000002.0.7345"', '"00000000000000000000000000000002.0.7345"'],
])('the version %s in channel_versions finds the blob put with %s', async (named, put) => {
  const blobs = `[{"channel":"c","version":${put},"type":"json","blob":"eA=="}]`
  await send(
    'putCheckpoint',
    `{"thread_id":${JSON.stringify(named)},"checkpoint_id":"cp","checkpoint":{"channel_versions":{"c":${named}}},"blobs":${blobs}}`,
  )
  const { text } = await send('getCheckpointTuple', `{"thread_id":${JSON.stringify(named)}}`)
  expect(JSON.parse(text).blobs).toMatchObject([{ channel: 'c', blob: 'eA==' }])
})

test.each(['null', '[]', '7', '{"c":null}', String.raw`{"\u0000":"1","\ud800":"1","c":{}}`])(
  'channel_versions of %s name no blob',
  async (versions) => {
    const put = await send(
      'putCheckpoint',
      `{"thread_id":"odd","checkpoint_id":"cp","checkpoint":{"channel_versions":${versions}}}`,
    )
    expect(put.status).toBe(200)
    expect(JSON.parse((await send('getCheckpointTuple', '{"thread_id":"odd"}')).text).blobs).toEqual([])
  },
)

test.each(['eA', 'eA=', 'eB==', '_-8=', 'e A=', 'eA==\\n'])(
  'the blob %j is no base64: 422, and nothing is put',
  async (blob) => {
    const body = `{"thread_id":"bad","checkpoint_id":"cp","checkpoint":{},"blobs":[{"channel":"c","version":"1","type":"t","blob":"${blob}"}]}`
    expect((await send('putCheckpoint', body)).status).toBe(422)
    expect((await send('getCheckpointTuple', '{"thread_id":"bad"}')).text).toBe('null')
  },
)

test.each([
  '{"idx":2147483648}',
  '{"idx":-2147483649}',
  '{"idx":0.5}',
  String.raw`{"channel":"\u0000"}`,
  String.raw`{"task_id":"\ud800"}`,
])('a write with %s is 422, never 500', async (part) => {
  const write = { task_id: 't', idx: 0, channel: 'c', blob: '', ...JSON.parse(part) }
  const body = JSON.stringify({ thread_id: 'bad', checkpoint_id: 'cp', writes: [write] })
  expect((await send('putCheckpointWrites', body)).status).toBe(422)
})

test('a write without type comes back with null', async () => {
  await send(
    'putCheckpointWrites',
    '{"thread_id":"untyped","checkpoint_id":"cp","writes":[{"task_id":"t","idx":-4,"channel":"c","blob":""}]}',
  )
  await send('putCheckpoint', '{"thread_id":"untyped","checkpoint_id":"cp","checkpoint":{}}')
  const { text } = await send('getCheckpointTuple', '{"thread_id":"untyped"}')
  expect(JSON.parse(text).pending_writes).toEqual([{ task_id: 't', idx: -4, channel: 'c', type: null, blob: '' }])
})

test.each([1, 30])('%i values of every size come back as they were put, large ones too', async (count) => {
  const thread_id = `sizes-${count}`
  const sizes = [0, 1, 24_575, 24_576, 24_577, 100_000]
  const blobs = Array.from({ length: count }, (_, index) => ({
    channel: `c-${index}`,
    version: '1',
    type: 'bytes',
    blob: Buffer.alloc(sizes[(index + sizes.length - 1) % sizes.length]!, `value ${index} `).toString('base64'),
  }))
  const channel_versions = Object.fromEntries(blobs.map(({ channel, version }) => [channel, version]))
  const put = () =>
    client.putCheckpoint({ body: { thread_id, checkpoint_id: 'cp', checkpoint: { channel_versions }, blobs } })
  await put()
  await put()
  const writes = blobs.map((blob, idx) => ({
    task_id: 't',
    idx,
    channel: blob.channel,
    type: 'bytes',
    blob: blob.blob,
  }))
  await client.putCheckpointWrites({ body: { thread_id, checkpoint_id: 'cp', writes } })
  const tuple = await client.getCheckpointTuple({ body: { thread_id } })
  const stored = new Map(tuple?.blobs.map(({ channel, blob }) => [channel, blob]))
  for (const { channel, blob } of blobs) expect(stored.get(channel) === blob).toBe(true)
  expect(tuple?.pending_writes.map(({ blob }) => blob)).toEqual(writes.map(({ blob }) => blob))

  const conflict = { ...blobs[0]!, blob: Buffer.alloc(100_000, 'other').toString('base64') }
  const { status } = await client.raw(checkpoints.putCheckpoint, {
    text: JSON.stringify({ thread_id, checkpoint_id: 'cp', checkpoint: {}, blobs: [conflict] }),
  })
  expect(status).toBe(409)
})
