import type { RunnableConfig } from '@langchain/core/runnables'
import type {
  ChannelVersions,
  Checkpoint,
  CheckpointListOptions,
  CheckpointMetadata,
} from '@langchain/langgraph-checkpoint'
import type {
  CheckpointTuple,
  DeltaChannelHistory,
  PendingWrite,
  SerializerProtocol,
} from '@langchain/langgraph-checkpoint'
import { BaseCheckpointSaver, copyCheckpoint, getCheckpointId } from '@langchain/langgraph-checkpoint'
import { connection, type Connection, type ConnectionOptions } from './connection.ts'
import { hasOldSends, load, loadTuple, loadWrites } from './deserialise.ts'
import { joinJson, parseAnswer } from './json-bytes.ts'
import { putOrder } from './put-order.ts'
import { dumpBlobs, dumpMetadata, dumpWrites, isSpecial, jsonWith } from './serialise.ts'
import { versionsOfBranch } from './versions.ts'
import { valuesOfHistory, valuesOfTuple, type WireDeltaHistory, type WireTuple } from './wire.ts'

export type KeelsonSaverOptions = ConnectionOptions & {
  /** How values of channels, and what tasks write, are turned into bytes; LangGraph's own when left out. */
  serde?: SerializerProtocol
}

type Place = { thread_id: string; checkpoint_ns: string; checkpoint_id: string }

const PAGE = 50

const placeOf = (config: RunnableConfig): Place => {
  const { thread_id, checkpoint_ns = '' } = config.configurable ?? {}
  if (!thread_id) throw new Error('config.configurable.thread_id is required')
  return { thread_id: String(thread_id), checkpoint_ns, checkpoint_id: getCheckpointId(config) }
}

const keyOf = ({ thread_id, checkpoint_ns, checkpoint_id }: Place): string =>
  JSON.stringify([thread_id, checkpoint_ns, checkpoint_id])

/**
 * Keeps the checkpoints of LangGraph graphs in Keelson. Versions of channels are texts that no other branch of a forked
 * thread makes, so that branches never share a value.
 */
export class KeelsonSaver extends BaseCheckpointSaver {
  readonly #connection: Connection
  readonly #inOrder = putOrder()

  // LangGraph binds `getNextVersion` once for each run and each update, so what is got here is one branch's own: two forks
  // of a checkpoint that go on in the same turn never share a version. TypeScript has no accessor in a method's place.
  static {
    Object.defineProperty(this.prototype, 'getNextVersion', { get: versionsOfBranch, configurable: true })
  }

  constructor({ serde, ...options }: KeelsonSaverOptions) {
    super(serde)
    this.#connection = connection(options)
  }

  /** Closes the connections that are kept open; the saver must not be used any more. */
  close(): void {
    this.#connection.close()
  }

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    if (!config.configurable?.['thread_id']) return undefined
    const place = placeOf(config)
    const get = async (more: object = {}) => {
      const query = JSON.stringify({ ...place, ...more })
      const answer = await this.#connection.post('/checkpoints/get-tuple', Buffer.from(query))
      return parseAnswer<WireTuple | null>(answer, valuesOfTuple)
    }
    const tuple = await get()
    if (tuple === null) return undefined
    if (!hasOldSends(tuple)) return await loadTuple(this.serde, tuple)
    const withSends = await get({ checkpoint_id: tuple.checkpoint_id, include: ['parent_pending_sends'] })
    return withSends === null ? undefined : await loadTuple(this.serde, withSends)
  }

  /** Reads page by page, as far as the caller goes. */
  async *list(
    config: RunnableConfig,
    { limit = Infinity, before, filter }: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const { thread_id, checkpoint_ns, checkpoint_id } = config.configurable ?? {}
    const query = {
      ...(thread_id && { thread_id: String(thread_id) }),
      ...(checkpoint_ns !== undefined && { checkpoint_ns }),
      ...(checkpoint_id && { checkpoint_id }),
      ...(before?.configurable?.['checkpoint_id'] !== undefined && {
        before_checkpoint_id: before.configurable['checkpoint_id'],
      }),
      ...(filter && { filter_metadata: filter }),
      include: ['blobs', 'pending_writes', 'parent_pending_sends'],
    }
    let left = limit
    let after: object = {}
    while (left > 0) {
      const body = JSON.stringify({ ...query, limit: Math.min(left, PAGE), ...after })
      const answer = await this.#connection.post('/checkpoints/list', Buffer.from(body))
      const page = parseAnswer<WireTuple[]>(answer, (tuples) => tuples.flatMap(valuesOfTuple))
      for (const tuple of page) yield await loadTuple(this.serde, tuple)
      // The service ends a page of large checkpoints early, so a short one is not the last.
      const last = page.at(-1)
      if (last === undefined) return
      left -= page.length
      after = {
        starting_after: {
          thread_id: last.thread_id,
          checkpoint_ns: last.checkpoint_ns,
          checkpoint_id: last.checkpoint_id,
        },
      }
    }
  }

  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const { checkpoint_id: parent, ...at } = placeOf(config)
    const place = { ...at, checkpoint_id: checkpoint.id }
    const root = metadata.parents?.[''] ?? ''
    const builtOn = parent ? { ...at, checkpoint_id: parent } : { ...at, checkpoint_ns: '', checkpoint_id: root }
    return this.#inOrder(keyOf(place), keyOf(builtOn), async (answered) => {
      // Only what LangGraph itself copies: old checkpoints have further members, which may hold values as well.
      const { channel_values, ...rest } = copyCheckpoint(checkpoint)
      const [blobs, metadataJson] = await Promise.all([
        dumpBlobs(this.serde, channel_values, newVersions),
        dumpMetadata(metadata),
      ])
      const facts = { ...place, ...(parent && { parent_checkpoint_id: parent }), checkpoint: rest }
      const body = joinJson(jsonWith(facts, { metadata: metadataJson, blobs }))
      await answered
      await this.#connection.post('/checkpoints/put', body)
      return { configurable: place }
    })
  }

  /** @param taskPath where the task is in the graph; LangGraph tells it from checkpoint 1.2 on */
  async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string, taskPath = ''): Promise<void> {
    const place = placeOf(config)
    if (!place.checkpoint_id) throw new Error('config.configurable.checkpoint_id is required')
    const upsert = writes.every(([channel]) => isSpecial(channel))
    const json = await dumpWrites(this.serde, { task_id: taskId, task_path: taskPath }, writes)
    await this.#connection.post('/checkpoints/put-writes', joinJson(jsonWith({ ...place, upsert }, { writes: json })))
  }

  async deleteThread(threadId: string): Promise<void> {
    await this.#connection.post('/checkpoints/delete-thread', Buffer.from(JSON.stringify({ thread_id: threadId })))
  }

  /** One request, however long the chain of ancestors is. */
  override async getDeltaChannelHistory({
    config,
    channels,
  }: {
    config: RunnableConfig
    channels: string[]
  }): Promise<Record<string, DeltaChannelHistory>> {
    if (channels.length === 0) return {}
    const body = JSON.stringify({ ...placeOf(config), channels })
    const answer = await this.#connection.post('/checkpoints/delta-history', Buffer.from(body))
    const history = parseAnswer<WireDeltaHistory>(answer, valuesOfHistory)
    const entries = history.channels.map(async ({ channel, writes, seed }) => {
      const entry: DeltaChannelHistory = { writes: await loadWrites(this.serde, writes) }
      if (seed?.blob != null) entry.seed = await load(this.serde, { type: seed.type, blob: seed.blob })
      return [channel, entry] as const
    })
    return Object.fromEntries(await Promise.all(entries))
  }
}
