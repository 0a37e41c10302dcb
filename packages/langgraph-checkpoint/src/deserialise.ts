import type { CheckpointPendingWrite, CheckpointTuple, SerializerProtocol } from '@langchain/langgraph-checkpoint'
import { maxChannelVersion, TASKS } from '@langchain/langgraph-checkpoint'
import { LANGGRAPH_JSON } from './langgraph-json.ts'
import type { WireBlob, WireTuple, WireWrite } from './wire.ts'

type Value = { type: string | null; blob: Uint8Array }

export const load = (serde: SerializerProtocol, { type, blob }: Value): Promise<unknown> =>
  serde.loadsTyped(type ?? 'json', blob)

const hasValue = (blob: WireBlob): blob is WireBlob & { blob: Uint8Array } =>
  blob.blob !== null && blob.type !== 'empty'

const loadBlobs = async (serde: SerializerProtocol, blobs: WireBlob[]): Promise<Record<string, unknown>> => {
  const values = blobs.filter(hasValue).map(async (blob) => [blob.channel, await load(serde, blob)] as const)
  return Object.fromEntries(await Promise.all(values))
}

export const loadWrites = (serde: SerializerProtocol, writes: WireWrite[]): Promise<CheckpointPendingWrite[]> =>
  Promise.all(
    writes.map(async (write): Promise<CheckpointPendingWrite> => [
      write.task_id,
      write.channel,
      await load(serde, write),
    ]),
  )

/**
 * The writes of each task with special ones, such as errors, at its end: LangGraph puts what it read again by position, so
 * that another write before them would get another index and be there twice.
 */
const specialLast = (writes: WireWrite[]): WireWrite[] =>
  [...Map.groupBy(writes, ({ task_id }) => task_id).values()].flatMap((ofTask) => [
    ...ofTask.filter(({ idx }) => idx >= 0),
    ...ofTask.filter(({ idx }) => idx < 0),
  ])

/** Whether a checkpoint is of a time when sends were kept with the parent instead of in a channel. */
export const hasOldSends = ({ checkpoint, parent_checkpoint_id }: WireTuple): boolean =>
  checkpoint.v < 4 && parent_checkpoint_id !== null

const configOf = (thread_id: string, checkpoint_ns: string, checkpoint_id: string) => ({
  configurable: { thread_id, checkpoint_ns, checkpoint_id },
})

/** The tuple that LangGraph works with. */
export const loadTuple = async (serde: SerializerProtocol, tuple: WireTuple): Promise<CheckpointTuple> => {
  const { thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint } = tuple
  const channel_versions = { ...checkpoint.channel_versions }
  const metadata = new TextEncoder().encode(JSON.stringify(tuple.metadata))
  const channel_values = await loadBlobs(serde, tuple.blobs)
  if (hasOldSends(tuple)) {
    const sends = await loadWrites(serde, tuple.parent_pending_sends ?? [])
    const versions = Object.values(channel_versions)
    channel_values[TASKS] = sends.map(([, , value]) => value)
    channel_versions[TASKS] = versions.length > 0 ? maxChannelVersion(...versions) : 1
  }
  return {
    config: configOf(thread_id, checkpoint_ns, checkpoint_id),
    checkpoint: {
      versions_seen: {},
      ...checkpoint,
      channel_versions,
      channel_values,
    } as unknown as CheckpointTuple['checkpoint'],
    metadata: await LANGGRAPH_JSON.loadsTyped('json', metadata),
    pendingWrites: await loadWrites(serde, specialLast(tuple.pending_writes)),
    ...(parent_checkpoint_id !== null && { parentConfig: configOf(thread_id, checkpoint_ns, parent_checkpoint_id) }),
  }
}
