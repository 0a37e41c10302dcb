import { setTimeout as delay } from 'node:timers/promises'
import { KeelsonSaver } from '@keelson/langgraph-checkpoint'
import { listen } from '@keelson/service-kit'
import { Annotation, Command, END, interrupt, START, StateGraph } from '@langchain/langgraph'
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { testApp } from '../test-app.fixture.ts'
import { all } from './account.fixture.ts'

const app = await testApp()
const server = await listen(app.service, { host: '127.0.0.1', port: 0, metricsPort: 0, drainMs: 1000 })
const saver = new KeelsonSaver({ baseUrl: server.url, apiKey: (await app.client()).token })
const direct = PostgresSaver.fromConnString(app.url)
await direct.setup()
afterAll(async () => {
  saver.close()
  await direct.end()
  await server[Symbol.asyncDispose]()
  await app[Symbol.asyncDispose]()
})

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (before, more) => [...before, ...more], default: () => [] }),
  answer: Annotation<string>(),
})

/** Two nodes side by side, a question to a person, and an end. */
const reviewGraph = (checkpointer: BaseCheckpointSaver) =>
  new StateGraph(State)
    .addNode('left', () => ({ log: ['left'] }))
    .addNode('right', () => ({ log: ['right'] }))
    .addNode('ask', () => ({ answer: interrupt<string, string>('approve?') }))
    .addNode('finish', ({ answer }) => ({ log: [`finished: ${answer}`] }))
    .addEdge(START, 'left')
    .addEdge(START, 'right')
    .addEdge('left', 'ask')
    .addEdge('right', 'ask')
    .addEdge('ask', 'finish')
    .addEdge('finish', END)
    .compile({ checkpointer })

describe('a LangGraph graph', () => {
  test('runs nodes in parallel, pauses, resumes with another process, and travels back', async () => {
    const config = { configurable: { thread_id: 'review' } }
    const paused = await reviewGraph(saver).invoke({ log: ['start'] }, config)
    expect(paused.log).toEqual(['start', 'left', 'right'])
    expect((await reviewGraph(saver).getState(config)).tasks[0]?.interrupts).toMatchObject([{ value: 'approve?' }])

    const resumed = await reviewGraph(saver).invoke(new Command({ resume: 'yes' }), config)
    expect(resumed).toEqual({ log: ['start', 'left', 'right', 'finished: yes'], answer: 'yes' })

    const graph = reviewGraph(saver)
    const history = await all(graph.getStateHistory(config))
    expect(history.map(({ next }) => next.toSorted())).toEqual([
      [],
      ['finish'],
      ['ask'],
      ['left', 'right'],
      ['__start__'],
    ])
    const beforeAsking = history[2]!
    await graph.invoke(null, beforeAsking.config)
    const again = await graph.invoke(new Command({ resume: 'no' }), config)
    expect(again.log).toEqual(['start', 'left', 'right', 'finished: no'])
    expect((await graph.getState(history[0]!.config)).values).toMatchObject({ answer: 'yes' })
  })

  test('fails when its thread is deleted under way, and leaves nothing of it', async () => {
    const config = { configurable: { thread_id: 'deleted' } }
    const graph = new StateGraph(State)
      .addNode('slow', async () => {
        await vi.waitFor(async () => expect((await saver.getTuple(config))?.metadata?.step).toBe(0))
        await saver.deleteThread('deleted')
        return { log: ['slow'] }
      })
      .addNode('fast', () => ({ log: ['fast'] }))
      .addEdge(START, 'slow')
      .addEdge('slow', 'fast')
      .addEdge('fast', END)
      .compile({ checkpointer: saver })
    await expect(graph.invoke({ log: [] }, config)).rejects.toMatchObject({ code: 'thread_deleted' })
    await delay(200)
    expect(await app.db.sql`select from agent.checkpoint_writes where thread_id = 'deleted'`).toHaveLength(0)
    expect(await saver.getTuple(config)).toBeUndefined()
    expect((await reviewGraph(saver).invoke({ log: ['anew'] }, config)).log).toEqual(['anew', 'left', 'right'])
  })

  test('a subgraph keeps its own namespace and resumes inside it', async () => {
    const inner = new StateGraph(State)
      .addNode('inner', () => ({ log: [`inner ${interrupt('?')}`] }))
      .addEdge(START, 'inner')
      .compile()
    const graph = new StateGraph(State).addNode('sub', inner).addEdge(START, 'sub').compile({ checkpointer: saver })
    const config = { configurable: { thread_id: 'nested' } }
    await graph.invoke({ log: ['start'] }, config)
    const { log } = await graph.invoke(new Command({ resume: 'now' }), config)
    expect(log.at(-1)).toBe('inner now')
    expect(log[0]).toBe('start')
  })

  test('a history longer than a page is read to its end', async () => {
    const Count = Annotation.Root({ count: Annotation<number>() })
    const graph = new StateGraph(Count)
      .addNode('more', ({ count }) => ({ count: count + 1 }))
      .addEdge(START, 'more')
      .addConditionalEdges('more', ({ count }) => (count < 120 ? 'more' : END))
      .compile({ checkpointer: saver })
    const config = { configurable: { thread_id: 'long' }, recursionLimit: 200 }
    await graph.invoke({ count: 0 }, config)
    const history = await all(graph.getStateHistory(config))
    expect(history.slice(0, -1).map(({ values }) => values.count)).toEqual(
      Array.from({ length: 121 }, (_, index) => 120 - index),
    )
  })
})

describe('a fork with updateState', () => {
  /** Runs to the end, goes back one step, says something else there, and reads what the fork and the first branch hold. */
  const fork = async (checkpointer: BaseCheckpointSaver) => {
    const graph = new StateGraph(State)
      .addNode('draft', () => ({ answer: 'draft' }))
      .addNode('review', () => ({ answer: 'reviewed', log: ['reviewed'] }))
      .addEdge(START, 'draft')
      .addEdge('draft', 'review')
      .addEdge('review', END)
      .compile({ checkpointer })
    const config = { configurable: { thread_id: 'forked' } }
    await graph.invoke({ log: ['start'] }, config)
    const [last, beforeReview] = await all(graph.getStateHistory(config))
    const forked = await graph.updateState(beforeReview!.config, { answer: 'changed by hand', log: ['by hand'] })
    const onFork = (await graph.getState(forked)).values
    return { onFork, onFirstBranch: (await graph.getState(last!.config)).values }
  }

  const first = { answer: 'reviewed', log: ['start', 'reviewed'] }
  const changed = { answer: 'changed by hand', log: ['start', 'by hand'] }

  test('holds the new values here, where the direct Postgres saver answers with those of the old branch', async () => {
    expect(await fork(saver)).toEqual({ onFork: changed, onFirstBranch: first })
    expect(await fork(direct)).toEqual({ onFork: first, onFirstBranch: first })
  })
})
