import { DeltaSnapshot, emptyCheckpoint, uuid6, type BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import { fixture, type Store } from './fixture.ts'

const THREADS = 16
const CHECKPOINTS = 12

const configOf = (thread_id: string) => ({ configurable: { thread_id, checkpoint_ns: '' } })

export const seededThread = (name: Store['name'], bytes: number, index: number) =>
  configOf(`${name}-seed-${bytes}-${index % THREADS}`)

/** Threads to read from. */
export const seed = async ({ name, saver }: Store, bytes: number): Promise<void> => {
  const { writer } = fixture(bytes)
  for (let thread = 0; thread < THREADS; thread += 1) {
    const one = writer(saver, seededThread(name, bytes, thread).configurable.thread_id)
    for (let step = 0; step < CHECKPOINTS; step += 1) {
      await one.put(step === 0)
      await one.putWrites('task')
    }
  }
}

export const deltaThread = configOf('deltas')

/** A chain of checkpoints with a delta each, and one snapshot at its root. */
export const seedDeltas = async (saver: BaseCheckpointSaver, ancestors: number): Promise<void> => {
  let config: Awaited<ReturnType<BaseCheckpointSaver['put']>> = deltaThread
  for (let depth = 0; depth <= ancestors; depth += 1) {
    const versions = { messages: String(depth).padStart(8, '0') } as never
    const channel_values = depth === 0 ? { messages: new DeltaSnapshot(['root']) } : {}
    const checkpoint = { ...emptyCheckpoint(), id: uuid6(depth), channel_values, channel_versions: versions }
    config = await saver.put(config, checkpoint, { source: 'loop', step: depth, parents: {} }, versions)
    if (depth < ancestors) await saver.putWrites(config, [['messages', [`delta ${depth}`]]], 'task')
  }
}
