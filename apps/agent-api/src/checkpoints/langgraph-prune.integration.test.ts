import { KeelsonSaver } from '@keelson/langgraph-checkpoint'
import { listen } from '@keelson/service-kit'
import { Annotation, DeltaChannel, END, interrupt, START, StateGraph } from '@langchain/langgraph'
import { afterAll, describe, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'

const app = await testApp()
const server = await listen(app.service, { host: '127.0.0.1', port: 0, metricsPort: 0, drainMs: 1000 })
const client = await app.client()

/** As a LangGraph that does not count the steps of delta channels would use it. */
class UncountedSaver extends KeelsonSaver {
  override put(...[config, checkpoint, metadata, versions]: Parameters<KeelsonSaver['put']>) {
    const { counters_since_delta_snapshot: _, ...rest } = metadata as typeof metadata & Record<string, unknown>
    return super.put(config, checkpoint, rest, versions)
  }
}

const options = { baseUrl: server.url, apiKey: client.token }
const savers = { counted: new KeelsonSaver(options), uncounted: new UncountedSaver(options) }
afterAll(async () => {
  for (const saver of Object.values(savers)) saver.close()
  await server[Symbol.asyncDispose]()
  await app[Symbol.asyncDispose]()
})

const pruneToLast = (thread_id: string) => client.pruneCheckpoints({ body: { thread_ids: [thread_id], keep_last: 1 } })

test('questions that interrupt a graph and are never answered leave nothing that prune keeps', async () => {
  const State = Annotation.Root({ q: Annotation<string>(), extra: Annotation<string>(), answer: Annotation<string>() })
  const graph = new StateGraph(State)
    .addNode('review', () => ({ answer: interrupt<string, string>('ok?') }))
    .addNode('beside', () => ({ extra: 'x' }))
    .addNode('after', () => ({}))
    .addEdge(START, 'review')
    .addEdge(START, 'beside')
    .addEdge('beside', 'after')
    .addEdge('review', END)
    .compile({ checkpointer: savers.counted })
  const config = { configurable: { thread_id: 'unanswered' } }
  for (let number = 0; number < 5; number += 1) await graph.invoke({ q: `question ${number}` }, config)
  const { values } = await graph.getState(config)
  expect(await pruneToLast('unanswered')).toMatchObject({ checkpoints: 9 })
  expect((await graph.getState(config)).values).toEqual(values)
})

describe.each(['counted', 'uncounted'] as const)('a graph with %s delta channels', (name) => {
  const joined = (before: string[], writes: string[][]) => [...before, ...writes.flat()]
  const State = Annotation.Root({
    log: () => new DeltaChannel<string[], string[]>(joined),
    turn: Annotation<number>(),
  })
  const graph = new StateGraph(State)
    .addNode('left', ({ turn }) => ({ log: [`left ${turn}`] }))
    .addNode('ask', ({ turn }) => ({ log: [`asked ${interrupt(turn)}`] }))
    .addEdge(START, 'left')
    .addEdge(START, 'ask')
    .addEdge('left', END)
    .addEdge('ask', END)
    .compile({ checkpointer: savers[name] })

  test.each(['async', 'exit'] as const)('has the same state after prunes, with durability %s', async (durability) => {
    const thread_id = `${name}-${durability}`
    const config = { configurable: { thread_id }, durability }
    for (let turn = 0; turn < 4; turn += 1) await graph.invoke({ turn, log: [`start ${turn}`] }, config)
    const before = (await graph.getState(config)).values
    expect(before.log).toContain('start 0')
    await pruneToLast(thread_id)
    await pruneToLast(thread_id)
    expect((await graph.getState(config)).values).toEqual(before)
    await graph.updateState({ configurable: { thread_id } }, { log: ['by hand'] }, 'left')
    const updated = (await graph.getState(config)).values
    expect(updated.log).toContain('by hand')
    await pruneToLast(thread_id)
    expect((await graph.getState(config)).values).toEqual(updated)
  })
})
