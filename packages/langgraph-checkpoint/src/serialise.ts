import type {
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
  PendingWrite,
  SerializerProtocol,
} from '@langchain/langgraph-checkpoint'
import { WRITES_IDX_MAP } from '@langchain/langgraph-checkpoint'

// Everything here is JSON text already: base64 has nothing to escape, and large values are spared another pass.

const quoted = (value: unknown): string => JSON.stringify(value)
const listOf = async (items: Promise<string>[]): Promise<string> => `[${(await Promise.all(items)).join(',')}]`

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')

const dump = async (serde: SerializerProtocol, value: unknown): Promise<string> => {
  const [type, bytes] = await serde.dumpsTyped(value)
  return `"type":${quoted(type)},"blob":"${base64(bytes)}"`
}

/** The channels that changed; one without a value is `empty`. */
export const dumpBlobs = (serde: SerializerProtocol, values: Checkpoint['channel_values'], versions: ChannelVersions) =>
  listOf(
    Object.entries(versions).map(async ([channel, version]) => {
      const value = Object.hasOwn(values, channel) ? await dump(serde, values[channel]) : '"type":"empty","blob":null'
      return `{"channel":${quoted(channel)},"version":${quoted(version)},${value}}`
    }),
  )

export const dumpWrites = (serde: SerializerProtocol, task_id: string, writes: PendingWrite[]): Promise<string> =>
  listOf(
    writes.map(async ([channel, value], position) => {
      const idx = WRITES_IDX_MAP[channel] ?? position
      return `{"task_id":${quoted(task_id)},"idx":${idx},"channel":${quoted(channel)},${await dump(serde, value)}}`
    }),
  )

/** Metadata stays readable JSON, so that it can be filtered by; what JSON lacks is spelled as the serialiser does. */
export const dumpMetadata = async (serde: SerializerProtocol, metadata: CheckpointMetadata): Promise<string> => {
  const [, bytes] = await serde.dumpsTyped(metadata)
  return new TextDecoder().decode(bytes)
}

/** The JSON of an object that has at least one member, with more members that are JSON already. */
export const jsonWith = (object: object, members: Record<string, string>): string => {
  const more = Object.entries(members).map(([name, json]) => `,"${name}":${json}`)
  return `${JSON.stringify(object).slice(0, -1)}${more.join('')}}`
}
