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

/** Whether writes to a channel have an index of their own, and replace each other. */
export const isSpecial = (channel: string): boolean => Object.hasOwn(WRITES_IDX_MAP, channel)

/** A task, and where it is in the graph; writes are ordered by both. */
type Task = { task_id: string; task_path: string }

export const dumpWrites = (serde: SerializerProtocol, task: Task, writes: PendingWrite[]): Promise<JsonParts> => {
  const ofTask = `{"task_id":${quoted(task.task_id)},"task_path":${quoted(task.task_path)}`
  return listOf(
    writes.map(async ([channel, value], position) => {
      const idx = isSpecial(channel) ? WRITES_IDX_MAP[channel] : position
      return [`${ofTask},"idx":${idx},"channel":${quoted(channel)},`, ...(await dump(serde, value))]
    }),
  )
}

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
