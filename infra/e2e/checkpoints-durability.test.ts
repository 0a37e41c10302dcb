import { KeelsonSaver } from '@keelson/langgraph-checkpoint'
import { eventually } from '@keelson/testing'
import { emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint'
import { expect, test } from 'vitest'
import { crashStack, type Victim } from '@keelson/bench/spans/crash'

const CLIENTS = 8
const VICTIMS = ['service', 'postmaster', 'backend'] as const satisfies Victim[]
const KILLS = Number(process.env['CRASHES'] ?? 6)

type Acknowledged = { thread_id: string; checkpoint_id: string; values: Record<string, string> }

/** Clients that each put to a thread of their own, four channels at a time, and remember what was acknowledged. */
const startWriters = (saver: KeelsonSaver) => {
  const acknowledged: Acknowledged[] = []
  const stopping = new AbortController()
  const write = async (thread_id: string) => {
    let config: Awaited<ReturnType<KeelsonSaver['put']>> = { configurable: { thread_id, checkpoint_ns: '' } }
    for (let step = 0; !stopping.signal.aborted; step += 1) {
      const checkpoint_id = uuid6(step)
      const values = Object.fromEntries(
        ['a', 'b', 'c', 'd'].map((name) => [name, `${checkpoint_id} ${name} `.repeat(40)]),
      )
      const channel_versions = Object.fromEntries(Object.keys(values).map((name) => [name, saver.getNextVersion(step)]))
      const checkpoint = { ...emptyCheckpoint(), id: checkpoint_id, channel_values: values, channel_versions }
      config = await saver.put(config, checkpoint, { source: 'loop', step, parents: {} }, channel_versions)
      await saver.putWrites(config, [['a', checkpoint_id]], 'task')
      acknowledged.push({ thread_id, checkpoint_id, values })
    }
  }
  const running = Promise.all(Array.from({ length: CLIENTS }, (_, client) => write(`thread-${client}`)))
  return {
    count: () => acknowledged.length,
    finish: async () => {
      stopping.abort()
      await running
      return acknowledged
    },
  }
}

test(
  'kill -9 of service, postmaster and backends under load loses no acknowledged checkpoint, and none of its blobs',
  async () => {
    await using stack = await crashStack()
    const saver = new KeelsonSaver({ baseUrl: stack.url, apiKey: stack.api_key, retries: 60, timeoutMs: 10_000 })
    const writers = startWriters(saver)
    const progress = async () => {
      const before = writers.count()
      await eventually(() => expect(writers.count()).toBeGreaterThan(before + CLIENTS), { deadlineMs: 60_000 })
    }
    for (let kill = 0; kill < KILLS; kill += 1) {
      await progress()
      await stack.kill(VICTIMS[kill % VICTIMS.length]!)
    }
    await progress()
    const acknowledged = await writers.finish()
    for (const { thread_id, checkpoint_id, values } of acknowledged) {
      const tuple = await saver.getTuple({ configurable: { thread_id, checkpoint_id } })
      expect(tuple?.checkpoint.channel_values).toEqual(values)
      expect(tuple?.pendingWrites).toEqual([['task', 'a', checkpoint_id]])
    }
    saver.close()
    process.stdout.write(`${KILLS} kills, ${acknowledged.length} acknowledged checkpoints, none lost\n`)
  },
  60_000 + KILLS * 30_000,
)
