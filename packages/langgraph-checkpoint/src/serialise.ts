import type {
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
  PendingWrite,
  SerializerProtocol,
} from '@langchain/langgraph-checkpoint'
import { WRITES_IDX_MAP } from '@langchain/langgraph-checkpoint'
import type { WireWrite } from './wire.ts'

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')

const dump = async (serde: SerializerProtocol, value: unknown): Promise<{ type: string; blob: string }> => {
  const [type, bytes] = await serde.dumpsTyped(value)
  return { type, blob: base64(bytes) }
}

/** The channels that changed; one without a value is `empty`. */
export const dumpBlobs = (serde: SerializerProtocol, values: Checkpoint['channel_values'], versions: ChannelVersions) =>
  Promise.all(
    Object.entries(versions).map(async ([channel, version]) => {
      const value = Object.hasOwn(values, channel) ? await dump(serde, values[channel]) : { type: 'empty', blob: null }
      return { channel, version, ...value }
    }),
  )

export const dumpWrites = (serde: SerializerProtocol, task_id: string, writes: PendingWrite[]): Promise<WireWrite[]> =>
  Promise.all(
    writes.map(async ([channel, value], position) => {
      const idx = WRITES_IDX_MAP[channel] ?? position
      return { task_id, idx, channel, ...(await dump(serde, value)) }
    }),
  )

/** Metadata stays readable JSON, so that it can be filtered by; what JSON lacks is spelled as the serialiser does. */
export const dumpMetadata = async (serde: SerializerProtocol, metadata: CheckpointMetadata): Promise<unknown> => {
  const [, bytes] = await serde.dumpsTyped(metadata)
  return JSON.parse(new TextDecoder().decode(bytes))
}
