import { setTimeout as delay } from 'node:timers/promises'
import { KeelsonSaver } from '@keelson/langgraph-checkpoint'
import { listen } from '@keelson/service-kit'
import type { RunnableConfig } from '@langchain/core/runnables'
import { Annotation, END, MemorySaver, START, StateGraph } from '@langchain/langgraph'
import type {
  BaseCheckpointSaver,
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
} from '@langchain/langgraph-checkpoint'
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres'
import { afterAll, describe, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'

const app = await testApp()
const server = await listen(app.service, { host: '127.0.0.1', port: 0, metricsPort: 0, drainMs: 1000 })
const options = { baseUrl: server.url, apiKey: (await app.client()).token }

/** Answers a moment later or sooner than the service does. */
class FarSaver extends KeelsonSaver {
  override async getTuple(...call: Parameters<KeelsonSaver['getTuple']>) {
    const tuple = await super.getTuple(...call)
    await delay(Math.random() * 20)
    return tuple
  }
  override async put(...call: Parameters<KeelsonSaver['put']>) {
    await delay(Math.random() * 20)
    return super.put(...call)
  }
}

/** The versions of Keelson's saver over a memory that answers at once, so that forks go on in lockstep. */
class InstantSaver extends MemorySaver {
  readonly #puts = new Map<string, Set<string>>()

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    versions: ChannelVersions = {},
  ) {
    for (const entry of Object.entries(versions)) {
      const key = entry.join(' ')
      this.#puts.set(key, (this.#puts.get(key) ?? new Set()).add(checkpoint.id))
    }
    return super.put(config, checkpoint, metadata)
  }

  /** How many versions of channels were made, and how many of them by more than one checkpoint. */
  versions() {
    const makers = [...this.#puts.values()]
    return { made: makers.length, shared: makers.filter(({ size }) => size > 1).length }
  }
}
const { getNextVersion } = Object.getOwnPropertyDescriptors(KeelsonSaver.prototype)
Object.defineProperty(InstantSaver.prototype, 'getNextVersion', getNextVersion)

const direct = PostgresSaver.fromConnString(app.url)
await direct.setup()
const keelson = new KeelsonSaver(options)
const far = new FarSaver(options)
afterAll(async () => {
  keelson.close()
  far.close()
  await direct.end()
  await server[Symbol.asyncDispose]()
  await app[Symbol.asyncDispose]()
})

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (before, more) => [...before, ...more], default: () => [] }),
})

/** Two branches side by side, which stop before their second nodes. */
const parallelGraph = (checkpointer: BaseCheckpointSaver) =>
  new StateGraph(State)
    .addNode('left', () => ({ log: ['left'] }))
    .addNode('right', () => ({ log: ['right'] }))
    .addNode('left2', () => ({ log: ['left2'] }))
    .addNode('right2', () => ({ log: ['right2'] }))
    .addEdge(START, 'left')
    .addEdge(START, 'right')
    .addEdge('left', 'left2')
    .addEdge('right', 'right2')
    .addEdge('left2', END)
    .addEdge('right2', END)
    .compile({ checkpointer, interruptBefore: ['left2', 'right2'] })

const savers = { 'in memory': new MemorySaver(), 'of Postgres': direct, 'of Keelson': keelson, 'far away': far }

describe.each(Object.entries(savers))('with the saver %s', (name, saver) => {
  test('an update after parallel nodes is refused unless it names one of them', async () => {
    const graph = parallelGraph(saver)
    const update = async (round: number) => {
      const config = { configurable: { thread_id: `${name}-${round}` } }
      await graph.invoke({ log: ['in'] }, config)
      await expect(graph.updateState(config, { log: ['hand'] })).rejects.toThrow('Ambiguous update, specify "asNode"')
      await graph.updateState(config, { log: ['hand'] }, 'left')
      expect((await graph.getState(config)).next).toContain('left2')
      return (await graph.getState(config)).values.log
    }
    const logs = await Promise.all(Array.from({ length: 12 }, (_, round) => update(round)))
    expect(new Set(logs.map(String))).toEqual(new Set(['in,left,right,hand']))
  })
})

/** Says who runs it in three steps, and goes on from each in the same turn as all others that run it. */
const meetingGraph = (checkpointer: BaseCheckpointSaver, runs: number) => {
  const meetings = Array.from({ length: 3 }, () => ({ ...Promise.withResolvers<void>(), waiting: 0 }))
  const Said = Annotation.Root({ said: Annotation<string>(), by: Annotation<string>() })
  const say =
    (step: number) =>
    async (_: typeof Said.State, { configurable }: RunnableConfig) => {
      const meeting = meetings[step]!
      meeting.waiting += 1
      if (meeting.waiting === runs) meeting.resolve()
      await meeting.promise
      const by: string = configurable?.['user']
      return { said: `step ${step} of ${by}`, by }
    }
  return new StateGraph(Said)
    .addNode('begin', () => ({ said: 'begun' }))
    .addNode('one', say(0))
    .addNode('two', say(1))
    .addNode('three', say(2))
    .addEdge(START, 'begin')
    .addEdge('begin', 'one')
    .addEdge('one', 'two')
    .addEdge('two', 'three')
    .addEdge('three', END)
    .compile({ checkpointer, interruptBefore: ['one'] })
}

const users = Array.from({ length: 40 }, (_, number) => `user ${number}`)

/** Forks one checkpoint many times at once, by running on from it or by an update before, and reads what they end with. */
const forkTogether = async (saver: BaseCheckpointSaver, thread_id: string, by: 'run' | 'update') => {
  const graph = meetingGraph(saver, users.length)
  await graph.invoke({ by: 'nobody' }, { configurable: { thread_id } })
  const { config } = await graph.getState({ configurable: { thread_id } })
  const fork = async (user: string) => {
    const { configurable } = by === 'run' ? config : await graph.updateState(config, { by: user }, 'begin')
    return graph.invoke(null, { configurable: { ...configurable, user } })
  }
  return Promise.all(users.map(fork))
}

const ends = users.map((by) => ({ said: `step 2 of ${by}`, by }))

describe.each(['run', 'update'] as const)('forks of one checkpoint by %s, all in the same turn', (by) => {
  test.each([
    ['at once', keelson],
    ['with latencies', far],
  ])('are all taken, and keep their own values: %s', async (name, saver) => {
    for (let round = 0; round < 2; round += 1)
      expect(await forkTogether(saver, `${by} ${name} ${round}`, by)).toEqual(ends)
  })

  test('never make the same version where every answer is there in the same turn', async () => {
    const saver = new InstantSaver()
    for (let round = 0; round < 5; round += 1) expect(await forkTogether(saver, `${by}-${round}`, by)).toEqual(ends)
    expect(saver.versions().shared).toBe(0)
    expect(saver.versions().made).toBeGreaterThan(5 * users.length * 3)
  })
})
