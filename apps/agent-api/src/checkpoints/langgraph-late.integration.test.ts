import { KeelsonSaver } from '@keelson/langgraph-checkpoint'
import { listen } from '@keelson/service-kit'
import { Annotation, DeltaChannel, START, StateGraph } from '@langchain/langgraph'
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import { afterAll, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'

const app = await testApp()
const client = await app.client()
const server = await listen(app.service, { host: '127.0.0.1', port: 0, metricsPort: 0, drainMs: 1000 })
const saver = new KeelsonSaver({ baseUrl: server.url, apiKey: client.token })
afterAll(async () => {
  saver.close()
  await server[Symbol.asyncDispose]()
  await app[Symbol.asyncDispose]()
})

const joined = (before: string[], writes: string[][]) => [...before, ...writes.flat()]

const Deltas = Annotation.Root({
  log: () => new DeltaChannel<string[], string[]>(joined),
  large: Annotation<string>(),
})

const deltaGraph = (checkpointer: BaseCheckpointSaver, bytes: number) =>
  new StateGraph(Deltas)
    .addNode('a', () => ({ log: ['a'], large: 'x'.repeat(bytes) }))
    .addNode('b', () => ({ log: ['b'] }))
    .addEdge(START, 'a')
    .addEdge('a', 'b')
    .compile({ checkpointer })

test.each([10, 40_000])(
  'a graph that saves its delta channels at its end begins a deleted thread anew: %i bytes',
  async (bytes) => {
    const graph = deltaGraph(saver, bytes)
    for (let round = 0; round < 15; round += 1) {
      const config = { configurable: { thread_id: `exit-${bytes}-${round}` }, durability: 'exit' as const }
      await graph.invoke({ log: ['deleted'] }, config)
      await saver.deleteThread(config.configurable.thread_id)
      await graph.invoke({ log: ['anew'] }, config)
      expect((await graph.getState(config)).values.log).toEqual(['anew', 'a', 'b'])
    }
  },
)

const Log = Annotation.Root({
  log: Annotation<string[]>({ reducer: (before, more) => [...before, ...more], default: () => [] }),
})

test('a graph that enters subgraphs after its thread was deleted leaves nothing of it', async () => {
  const thread_id = 'subgraphs'
  const inner = new StateGraph(Log)
    .addNode('inner', () => ({ log: ['inner'] }))
    .addEdge(START, 'inner')
    .compile()
  const graph = new StateGraph(Log)
    .addNode('sub', async () => {
      await saver.deleteThread(thread_id)
      return inner.invoke({ log: ['in'] })
    })
    .addEdge(START, 'sub')
    .compile({ checkpointer: saver })
  const run = graph.invoke({ log: ['start'] }, { configurable: { thread_id }, durability: 'sync' })
  await expect(run).rejects.toMatchObject({ code: 'thread_deleted' })
  expect((await client.listCheckpoints({ body: { thread_id } })).length).toBe(0)
  expect((await client.listThreads({ body: {} })).threads.filter((thread) => thread.thread_id === thread_id)).toEqual(
    [],
  )
})
