import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { KeelsonSaver } from '@keelson/langgraph-checkpoint'
import { listen } from '@keelson/service-kit'
import { Annotation, Command, interrupt, Send, START, StateGraph } from '@langchain/langgraph'
import { emptyCheckpoint, MemorySaver, type SerializerProtocol } from '@langchain/langgraph-checkpoint'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'
import { all } from './account.fixture.ts'

const app = await testApp()
const service = await listen(app.service, { host: '127.0.0.1', port: 0, metricsPort: 0, drainMs: 1000 })

/** What reached the service: bodies, and what the base64 in them stands for. */
const sent: string[] = []
const record = async (request: IncomingMessage, response: ServerResponse) => {
  const body = await text(request)
  const blobs = body.matchAll(/"blob":"([^"]*)"/g)
  sent.push(body, ...Array.from(blobs, ([, blob]) => Buffer.from(blob!, 'base64').toString()))
  const headers = { authorization: request.headers.authorization!, 'content-type': 'application/json' }
  const answer = await fetch(`${service.url}${request.url}`, { method: 'POST', body, headers })
  response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()))
}
const recorder = createServer((request, response) => void record(request, response))
await new Promise<void>((resolve) => recorder.listen(0, '127.0.0.1', resolve))

const plain = new MemorySaver().serde
const flipped = (bytes: Uint8Array): Uint8Array => bytes.map((byte) => byte ^ 0xa5)
/** Writes no JSON. */
const encrypting: SerializerProtocol = {
  dumpsTyped: async (value) => {
    const [type, bytes] = await plain.dumpsTyped(value)
    return [`${type}+flipped`, flipped(bytes)]
  },
  loadsTyped: (type, data) => plain.loadsTyped(type.replace('+flipped', ''), flipped(Buffer.from(data))),
}
const saver = new KeelsonSaver({
  baseUrl: `http://127.0.0.1:${(recorder.address() as AddressInfo).port}`,
  apiKey: (await app.client()).token,
  serde: encrypting,
})
beforeEach(() => void sent.splice(0))
afterAll(async () => {
  saver.close()
  recorder.close()
  await service[Symbol.asyncDispose]()
  await app[Symbol.asyncDispose]()
})

const SECRET = 'canary-7f3a'
const metadata = { source: 'loop', step: 0, parents: {}, seen: new Set(['a']) } as const
const root = { configurable: { thread_id: 'encrypted', checkpoint_ns: '' } }

test('what a serialiser of its own writes comes back, and metadata stays what can be filtered by', async () => {
  const checkpoint = { ...emptyCheckpoint(), channel_versions: { c: 1 }, channel_values: { c: SECRET } }
  const config = await saver.put(root, { ...checkpoint, id: '1' }, metadata, { c: 1 })
  await saver.putWrites(config, [['c', new Map([['more', SECRET]])]], 'task')
  const child = await saver.put(config, { ...checkpoint, id: '2' }, metadata, {})

  const writes = [['task', 'c', new Map([['more', SECRET]])]]
  const tuple = { checkpoint: { channel_values: { c: SECRET } }, metadata }
  expect(await saver.getTuple(config)).toMatchObject({ ...tuple, pendingWrites: writes })
  expect(await all(saver.list(root, { filter: { source: 'loop' } }))).toMatchObject([
    { ...tuple, pendingWrites: [] },
    { ...tuple, pendingWrites: writes },
  ])
  const history = await saver.getDeltaChannelHistory({ config: child, channels: ['c'] })
  expect(history['c']).toEqual({ writes, seed: SECRET })
  expect(sent.filter((body) => body.includes(SECRET))).toEqual([])
})

test('values that an old checkpoint carries beside its channels are not sent', async () => {
  const old = { ...emptyCheckpoint(), v: 1, pending_sends: [{ node: 'n', args: SECRET }] }
  await saver.put({ configurable: { thread_id: 'old' } }, old, metadata, {})
  expect(sent).toHaveLength(1)
  expect(sent.filter((body) => body.includes(SECRET))).toEqual([])
})

test('a graph runs, pauses and resumes, and nothing it says leaves in the clear', async () => {
  const State = Annotation.Root({
    log: Annotation<string[]>({ reducer: (before, more) => [...before, ...more], default: () => [] }),
  })
  const graph = new StateGraph(State)
    .addNode('fan', () => ({ log: [`${SECRET} fan`] }))
    .addNode('ask', ({ log }) => ({ log: [interrupt<string, string>(`${log[0]}?`)] }))
    .addEdge(START, 'fan')
    .addConditionalEdges('fan', () => [new Send('ask', { log: [`${SECRET} sent`] })], ['ask'])
    .compile({ checkpointer: saver })
  const config = { configurable: { thread_id: 'graph' } }
  await graph.invoke({ log: [`${SECRET} start`] }, config)
  const { log } = await graph.invoke(new Command({ resume: `${SECRET} yes` }), config)
  expect(log).toEqual(['start', 'fan', 'yes'].map((word) => `${SECRET} ${word}`))
  expect((await graph.getState(config)).values).toEqual({ log })
  expect(sent.length).toBeGreaterThan(10)
  expect(sent.filter((body) => body.includes(SECRET))).toEqual([])
})
