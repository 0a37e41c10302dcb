import { DeltaSnapshot, emptyCheckpoint, uuid6, type BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import { measure } from './measure.ts'
import { threadConfig } from './operations.ts'

const THREAD = 'deltas'

/** A chain of checkpoints with a delta each, and one snapshot at its root. */
export const seedDeltas = async (saver: BaseCheckpointSaver, length: number): Promise<void> => {
  let config: Awaited<ReturnType<BaseCheckpointSaver['put']>> = threadConfig(THREAD)
  for (let depth = 0; depth <= length; depth += 1) {
    const versions = { messages: String(depth).padStart(8, '0') } as never
    const channel_values = depth === 0 ? { messages: new DeltaSnapshot(['root']) } : {}
    const checkpoint = { ...emptyCheckpoint(), id: uuid6(depth), channel_values, channel_versions: versions }
    config = await saver.put(config, checkpoint, { source: 'loop', step: depth, parents: {} }, versions)
    if (depth < length) await saver.putWrites(config, [['messages', [`delta ${depth}`]]], 'task')
  }
}

/** How long one delta history takes, in milliseconds. */
export const deltaHistoryMs = async (saver: BaseCheckpointSaver, seconds: number): Promise<number> => {
  const options = { config: threadConfig(THREAD), channels: ['messages'] }
  return 1000 / (await measure(1, () => saver.getDeltaChannelHistory(options), seconds)).perSecond
}
