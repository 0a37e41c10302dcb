import type {
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
  PendingWrite,
  SerializerProtocol,
} from '@langchain/langgraph-checkpoint'
import { WRITES_IDX_MAP } from '@langchain/langgraph-checkpoint'
import { Base64, type JsonParts } from './json-bytes.ts'
import { LANGGRAPH_JSON } from './langgraph-json.ts'

const quoted = (value: unknown): string => JSON.stringify(value)

/** The items of a list, each of which may be several parts. */
const listOf = async (items: Promise<JsonParts>[]): Promise<JsonParts> => {
  const parts: JsonParts = ['[']
  for (const [index, item] of (await Promise.all(items)).entries()) parts.push(index === 0 ? '' : ',', ...item)
  return [...parts, ']']
}

const dump = async (serde: SerializerProtocol, value: unknown): Promise<JsonParts> => {
  const [type, bytes] = await serde.dumpsTyped(value)
  return [`"type":${quoted(type)},"blob":`, new Base64(bytes), '}']
}

/** The channels that changed; one without a value is `empty`. */
export const dumpBlobs = (serde: SerializerProtocol, values: Checkpoint['channel_values'], versions: ChannelVersions) =>
  listOf(
    Object.entries(versions).map(async ([channel, version]) => {
      const value = Object.hasOwn(values, channel)
        ? await dump(serde, values[channel])
        : ['"type":"empty","blob":null}']
      return [`{"channel":${quoted(channel)},"version":${quoted(version)},`, ...value]
    }),
  )

export const dumpWrites = (serde: SerializerProtocol, task_id: string, writes: PendingWrite[]): Promise<JsonParts> =>
  listOf(
    writes.map(async ([channel, value], position) => {
      const idx = WRITES_IDX_MAP[channel] ?? position
      const head = `{"task_id":${quoted(task_id)},"idx":${idx},"channel":${quoted(channel)},`
      return [head, ...(await dump(serde, value))]
    }),
  )

/** Metadata stays readable JSON, so that it can be filtered by; what JSON lacks is spelled as LangGraph does. */
export const dumpMetadata = async (metadata: CheckpointMetadata): Promise<JsonParts> => {
  const [, bytes] = await LANGGRAPH_JSON.dumpsTyped(metadata)
  return [new TextDecoder().decode(bytes)]
}

/** The JSON of an object that has at least one member, with more members that are JSON already. */
export const jsonWith = (object: object, members: Record<string, JsonParts>): JsonParts => {
  const more = Object.entries(members).flatMap(([name, json]) => [`,"${name}":`, ...json])
  return [JSON.stringify(object).slice(0, -1), ...more, '}']
}
