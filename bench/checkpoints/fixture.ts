import { emptyCheckpoint, uuid6, type BaseCheckpointSaver, type Checkpoint } from '@langchain/langgraph-checkpoint'

const WORDS = Array.from({ length: 4000 }, (_, index) => ((index * 2654435761) >>> 0).toString(36))

/** Text that compresses about as well as a conversation does. */
const textOf = (bytes: number): string => {
  let text = ''
  while (text.length < bytes) text += `${WORDS[Math.floor(Math.random() ** 2 * WORDS.length)]} `
  return text.slice(0, bytes)
}

/** A state of about so many bytes as messages of 1.5 KB. */
const messagesOf = (bytes: number): object[] =>
  Array.from({ length: Math.max(1, Math.round(bytes / 1500)) }, (_, index) => ({
    type: index % 2 === 0 ? 'human' : 'ai',
    id: `message-${index}`,
    content: textOf(Math.min(bytes, 1500) - 60),
  }))

const CHANGED = ['messages', 'step', 'user', 'plan']
const CARRIED = ['memory', 'tools']
const NUMBER_OF_STATES = 8

export type Store = { name: 'direct' | 'keelson'; saver: BaseCheckpointSaver }

let version = 0
const nextVersion = () => String((version += 1)).padStart(32, '0')

/** What a benchmark puts and reads: one large channel and five small ones, four of which change with every put. */
export const fixture = (bytes: number) => {
  const states = Array.from({ length: NUMBER_OF_STATES }, () => messagesOf(bytes))
  const stateAt = (index: number) => states[index % NUMBER_OF_STATES] as object[]

  const checkpointAfter = (previous: Record<string, string>, index: number) => {
    const changed = Object.fromEntries(CHANGED.map((channel) => [channel, nextVersion()]))
    const channel_versions = { ...previous, ...changed }
    const channel_values = {
      messages: stateAt(index),
      step: index,
      user: 'u-1',
      plan: ['search', 'answer'],
      memory: { a: 1 },
      tools: ['web'],
    }
    const checkpoint = {
      ...emptyCheckpoint(),
      id: uuid6(index),
      channel_versions,
      channel_values,
    } as unknown as Checkpoint
    return { checkpoint, newVersions: changed as never, channel_versions }
  }

  const metadata = (step: number) => ({ source: 'loop' as const, step, parents: {}, user_id: 'u-1' })

  /** A writer of one thread: every call is the next checkpoint. */
  const writer = (saver: BaseCheckpointSaver, thread_id: string) => {
    let versions: Record<string, string> = Object.fromEntries(CARRIED.map((channel) => [channel, nextVersion()]))
    let config: Awaited<ReturnType<BaseCheckpointSaver['put']>> = { configurable: { thread_id, checkpoint_ns: '' } }
    let step = 0
    return {
      put: async (withCarried = false) => {
        const { checkpoint, newVersions, channel_versions } = checkpointAfter(versions, (step += 1))
        config = await saver.put(config, checkpoint, metadata(step), withCarried ? channel_versions : newVersions)
        versions = channel_versions
      },
      putWrites: (task: string) =>
        saver.putWrites(
          config,
          [
            ['messages', stateAt(0)],
            ['step', 1],
          ],
          task,
        ),
    }
  }
  return { writer }
}
