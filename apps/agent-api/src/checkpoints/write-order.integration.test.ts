import { KeelsonSaver } from '@keelson/langgraph-checkpoint'
import { listen } from '@keelson/service-kit'
import { Annotation, START, StateGraph } from '@langchain/langgraph'
import {
  type BaseCheckpointSaver,
  type CheckpointPendingWrite,
  emptyCheckpoint,
  MemorySaver,
} from '@langchain/langgraph-checkpoint'
import { afterAll, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'
import { all, base64 } from './account.fixture.ts'

const app = await testApp()
const client = await app.client()
const server = await listen(app.service, { host: '127.0.0.1', port: 0, metricsPort: 0, drainMs: 1000 })
const saver = new KeelsonSaver({ baseUrl: server.url, apiKey: client.token })
afterAll(async () => {
  saver.close()
  await server[Symbol.asyncDispose]()
  await app[Symbol.asyncDispose]()
})

/** Tasks as they are put; sorted by id, or without regard to case, they would come in another order. */
const TASKS = [
  { task_id: 'a', task_path: '~__pregel_pull, right' },
  { task_id: 'c', task_path: '~__pregel_pull, left' },
  { task_id: 'b', task_path: '~__pregel_pull, Z' },
  { task_id: 'y', task_path: '' },
  { task_id: 'X', task_path: '' },
  { task_id: 'd', task_path: '~__pregel_pull, left' },
]
const IN_ORDER = ['X', 'y', 'b', 'c', 'd', 'a']

const putStep = (thread_id: string, checkpoint_id: string, parent_checkpoint_id?: string) =>
  client.putCheckpoint({ body: { thread_id, checkpoint_id, parent_checkpoint_id, checkpoint: { v: 1 } } })

test.each([0, 30])(
  'writes come back by task path, then task, then idx, wherever they are read: %i more',
  async (more) => {
    const thread_id = `http-${more}`
    await putStep(thread_id, 'cp-1')
    const blob = base64('w')
    const written = TASKS.flatMap((task) => [1, 0].map((idx) => ({ ...task, idx, channel: '__pregel_tasks', blob })))
    const late = Array.from({ length: more }, (_, index) => ({
      task_id: `0${index}`,
      task_path: '~~',
      idx: 0,
      channel: '__pregel_tasks',
      blob,
    }))
    await client.putCheckpointWrites({ body: { thread_id, checkpoint_id: 'cp-1', writes: [...late, ...written] } })
    await putStep(thread_id, 'cp-2', 'cp-1')

    const keysOf = (writes: { task_id: string; idx: number }[] | undefined) =>
      writes?.slice(0, written.length).map(({ task_id, idx }) => `${task_id} ${idx}`)
    const expected = IN_ORDER.flatMap((task_id) => [`${task_id} 0`, `${task_id} 1`])
    const first = await client.getCheckpointTuple({ body: { thread_id, checkpoint_id: 'cp-1' } })
    expect(keysOf(first?.pending_writes)).toEqual(expected)
    const second = await client.getCheckpointTuple({ body: { thread_id, include: ['parent_pending_sends'] } })
    expect(keysOf(second?.parent_pending_sends)).toEqual(expected)
    const items = await client.listCheckpoints({
      body: { thread_id, include: ['pending_writes', 'parent_pending_sends'] },
    })
    expect(keysOf(items[0]?.parent_pending_sends)).toEqual(expected)
    expect(keysOf(items[1]?.pending_writes)).toEqual(expected)
    const { channels } = await client.getDeltaHistory({ body: { thread_id, channels: ['__pregel_tasks'] } })
    expect(keysOf(channels[0]?.writes)).toEqual(expected)
  },
)

test('a write that replaces another brings its own task path', async () => {
  const put = (task_id: string, task_path: string) =>
    client.putCheckpointWrites({
      body: {
        thread_id: 'replaced',
        checkpoint_id: 'cp-1',
        upsert: true,
        writes: [{ task_id, task_path, idx: 0, channel: 'c', blob: '' }],
      },
    })
  await putStep('replaced', 'cp-1')
  for (const [task_id, path] of [
    ['a', '1'],
    ['b', '2'],
    ['a', '3'],
  ] as const)
    await put(task_id, path)
  const tuple = await client.getCheckpointTuple({ body: { thread_id: 'replaced' } })
  expect(tuple?.pending_writes.map(({ task_id }) => task_id)).toEqual(['b', 'a'])
})

test('a saver gives back what parallel tasks wrote in the order of their paths', async () => {
  const metadata = { source: 'loop', step: 0, parents: {} } as const
  const root = { configurable: { thread_id: 'saver', checkpoint_ns: '' } }
  const first = await saver.put(root, { ...emptyCheckpoint(), id: '1' }, metadata, {})
  for (const { task_id, task_path } of TASKS) await saver.putWrites(first, [['log', task_id]], task_id, task_path)
  const second = await saver.put(first, { ...emptyCheckpoint(), id: '2' }, metadata, {})

  const valuesOf = (writes: CheckpointPendingWrite[] | undefined) => writes?.map(([, , value]) => value)
  expect(valuesOf((await saver.getTuple(first))?.pendingWrites)).toEqual(IN_ORDER)
  const listed = await all(saver.list(root))
  expect(valuesOf(listed[1]?.pendingWrites)).toEqual(IN_ORDER)
  const history = await saver.getDeltaChannelHistory({ config: second, channels: ['log'] })
  expect(valuesOf(history['log']?.writes)).toEqual(IN_ORDER)
})

test('a saver that is told no task paths gives writes back by task', async () => {
  const config = { configurable: { thread_id: 'pathless', checkpoint_ns: '', checkpoint_id: '1' } }
  await saver.put(config, { ...emptyCheckpoint(), id: '1' }, { source: 'loop', step: 0, parents: {} }, {})
  for (const { task_id } of TASKS) await saver.putWrites(config, [['log', task_id]], task_id)
  const writes = (await saver.getTuple(config))?.pendingWrites
  expect(writes?.map(([task_id]) => task_id)).toEqual(['X', 'a', 'b', 'c', 'd', 'y'])
})

/** Runs a graph of which one node succeeds and one fails three times, until both have succeeded. */
const failingThrice = async (checkpointer: BaseCheckpointSaver, durability: 'exit' | 'sync') => {
  const State = Annotation.Root({
    log: Annotation<string[]>({ reducer: (before, more) => [...before, ...more], default: () => [] }),
  })
  let runs = 0
  const graph = new StateGraph(State)
    .addNode('well', () => ({ log: ['well'] }))
    .addNode('badly', () => {
      runs += 1
      if (runs <= 3) throw new Error(`failure ${runs}`)
      return { log: ['at last'] }
    })
    .addEdge(START, 'well')
    .addEdge(START, 'badly')
    .compile({ checkpointer })
  const config = { configurable: { thread_id: `failing-${durability}` }, durability }
  await expect(graph.invoke({ log: [] }, config)).rejects.toThrow('failure 1')
  for (const failure of [2, 3]) await expect(graph.invoke(null, config)).rejects.toThrow(`failure ${failure}`)
  return (await graph.invoke(null, config)).log
}

test.each(['exit', 'sync'] as const)(
  'what a node wrote beside one that failed again and again is there once: %s',
  async (durability) => {
    const expected = ['at last', 'well']
    expect(await failingThrice(new MemorySaver(), durability)).toEqual(expected)
    expect(await failingThrice(saver, durability)).toEqual(expected)
  },
)
