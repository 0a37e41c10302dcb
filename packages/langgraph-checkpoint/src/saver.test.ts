import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json as toJson } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { KeelsonSaver } from './saver.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** A server that gives these answers, one after the other; the last one again and again. */
const serving = async (...answers: Answer[]) => {
  const requests: string[] = []
  const bodies: unknown[] = []
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    requests.push(request.url ?? '')
    bodies.push(await toJson(request))
    answers[Math.min(requests.length, answers.length) - 1]?.(request, response)
  }
  const server = createServer((request, response) => void take(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/base/`
  const stop = () => {
    server.closeAllConnections()
    server.close()
  }
  return { baseUrl, requests, bodies, [Symbol.dispose]: stop }
}

const json =
  (status: number, body: unknown, headers = {}): Answer =>
  (_, response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
const hangUp: Answer = (request) => request.socket.destroy()
const silence: Answer = () => {}

const config = { configurable: { thread_id: 't' } }
const saverOf = (baseUrl: string, more = {}) => new KeelsonSaver({ baseUrl, apiKey: 'key', ...more })

test('what failed in passing is repeated: a busy service, a cut connection', async () => {
  using server = await serving(json(503, { code: 'unavailable' }), hangUp, json(200, null))
  expect(await saverOf(server.baseUrl).getTuple(config)).toBeUndefined()
  expect(server.requests).toEqual(Array(3).fill('/base/checkpoints/get-tuple'))
})

test('a refusal is not repeated, and tells its status and code', async () => {
  using server = await serving(json(409, { code: 'thread_deleted', detail: 'gone' }))
  const refused = saverOf(server.baseUrl).deleteThread('t')
  await expect(refused).rejects.toMatchObject({ name: 'KeelsonError', status: 409, code: 'thread_deleted' })
  expect(server.requests).toHaveLength(1)
})

test('repeating ends: the last answer is the error, and no answer is one as well', async () => {
  using busy = await serving(json(503, 'no problem document'))
  await expect(saverOf(busy.baseUrl, { retries: 1 }).getTuple(config)).rejects.toMatchObject({
    status: 503,
    code: 'unknown',
  })
  expect(busy.requests).toHaveLength(2)
  using silent = await serving(silence)
  const unanswered = saverOf(silent.baseUrl, { retries: 1, timeoutMs: 50 }).getTuple(config)
  await expect(unanswered).rejects.toMatchObject({ status: null, code: 'unreachable' })
  expect(silent.requests).toHaveLength(2)
})

test('a list is read only as far as it is iterated', async () => {
  const item = {
    thread_id: 't',
    checkpoint_ns: '',
    checkpoint_id: 'c',
    parent_checkpoint_id: null,
    checkpoint: { v: 4 },
    metadata: {},
    blobs: [],
    pending_writes: [],
  }
  using server = await serving(
    json(
      200,
      Array.from({ length: 50 }, () => item),
    ),
  )
  for await (const tuple of saverOf(server.baseUrl).list(config)) {
    expect(tuple.config.configurable).toEqual({ thread_id: 't', checkpoint_ns: '', checkpoint_id: 'c' })
    break
  }
  expect(server.requests).toHaveLength(1)
})

test('what a task failed with comes after what it wrote, and writes stay in the order of the service otherwise', async () => {
  const write = (task_id: string, idx: number, channel: string) => ({
    task_id,
    idx,
    channel,
    type: 'json',
    blob: 'MQ==',
  })
  const pending_writes = [
    write('b', -3, '__interrupt__'),
    write('b', -1, '__error__'),
    write('b', 0, 'log'),
    write('b', 1, 'more'),
    write('a', -4, '__resume__'),
    write('a', 0, 'log'),
  ]
  const tuple = { thread_id: 't', checkpoint_ns: '', checkpoint_id: 'c', parent_checkpoint_id: null }
  using server = await serving(json(200, { ...tuple, checkpoint: { v: 4 }, metadata: {}, blobs: [], pending_writes }))
  const read = await saverOf(server.baseUrl).getTuple(config)
  expect(read?.pendingWrites?.map(([task, channel]) => `${task} ${channel}`)).toEqual([
    'b log',
    'b more',
    'b __interrupt__',
    'b __error__',
    'a log',
    'a __resume__',
  ])
})

test('a write has its task, the path of it, and an idx that only a special channel chooses', async () => {
  using server = await serving(json(204, null))
  const place = { configurable: { thread_id: 't', checkpoint_id: 'c' } }
  const saver = saverOf(server.baseUrl)
  await saver.putWrites(
    place,
    [
      ['constructor', 1],
      ['__resume__', 2],
    ],
    'task',
    '~__pregel_pull, node',
  )
  await saver.putWrites(place, [['__interrupt__', 3]], 'task')
  const write = { task_id: 'task', type: 'json' }
  const task_path = '~__pregel_pull, node'
  expect(server.bodies).toMatchObject([
    {
      upsert: false,
      writes: [
        { ...write, task_path, idx: 0, channel: 'constructor', blob: 'MQ==' },
        { ...write, task_path, idx: -4, channel: '__resume__', blob: 'Mg==' },
      ],
    },
    { upsert: true, writes: [{ ...write, task_path: '', idx: -3, channel: '__interrupt__', blob: 'Mw==' }] },
  ])
})

test('versions sort as text by their number, and no two branches make the same', () => {
  const saver = saverOf('http://127.0.0.1:1')
  const versions: unknown[] = []
  for (let version: number | undefined, count = 0; count < 12; count += 1)
    versions.push((version = saver.getNextVersion(version)))
  expect(versions).toEqual(versions.map(String).toSorted())
  expect(saver.getNextVersion(undefined)).not.toBe(saver.getNextVersion(undefined))
  expect(String(saver.getNextVersion(7))).toMatch(/^0{31}8\.\d{16}$/)
})

test.each([undefined, 7])(
  'a branch makes one version of %s for all channels of a step, and another one later',
  async (current) => {
    const saver = saverOf('http://127.0.0.1:1')
    const [branch, other] = [saver.getNextVersion.bind(saver), saver.getNextVersion.bind(saver)]
    const first = branch(current)
    const others = other(current)
    expect([branch(current), other(current)]).toEqual([first, others])
    expect(others).not.toBe(first)
    const second = branch(first)
    expect(branch(first)).toBe(second)
    await Promise.resolve()
    expect(branch(first)).not.toBe(second)
  },
)

test('a saver that is made of this one may have versions of its own', () => {
  class Marked extends KeelsonSaver {
    override getNextVersion = (current: number | undefined) => current ?? 1
  }
  class Called extends KeelsonSaver {
    override getNextVersion(current: number | undefined) {
      return super.getNextVersion(current)
    }
  }
  const options = { baseUrl: 'http://127.0.0.1:1', apiKey: 'key' }
  expect(new Marked(options).getNextVersion(7)).toBe(7)
  expect(String(new Called(options).getNextVersion(7))).toMatch(/^0{31}8\./)
})

test('a saver in a config can be printed', () => {
  expect(JSON.stringify({ saver: saverOf('http://127.0.0.1:1') })).toBe('{"saver":"[KeelsonSaver]"}')
})
