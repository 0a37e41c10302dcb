import { JsonBytes } from '@keelson/contracts'
import type { Database } from '@keelson/database'
import { orRefusal } from './refusals.ts'
import type { Parts, TupleStatement } from './tuple-statement.ts'

/** Position of the checkpoint, part, its JSON, and base64 that belongs behind it: as Postgres sent them. */
type Row = [item: Buffer, part: Buffer, json: Buffer, base64: Buffer | null]

const PART_NAMES = ['blobs', 'pending_writes', 'parent_pending_sends'] as const

type Item = { checkpoint: Buffer } & Record<keyof Parts, Buffer[]>

const [COMMA, QUOTE, CLOSE, END_LIST] = [',', '"', '}', ']}'].map((text) => Buffer.from(text)) as [
  Buffer,
  Buffer,
  Buffer,
  Buffer,
]
const LIST_HEADS = Object.fromEntries(PART_NAMES.map((part) => [part, Buffer.from(`,"${part}":[`)]))

/** What follows the JSON of a part, up to its end. */
const partOf = (json: Buffer, base64: Buffer | null): Buffer[] =>
  base64 === null ? [json, CLOSE] : [json, QUOTE, base64, QUOTE, CLOSE]

const itemsOf = (rows: readonly Row[]): Item[] => {
  const items: Item[] = []
  for (const [position, part, json, base64] of rows) {
    const at = Number(position.toString('latin1'))
    const name = part.toString('latin1')
    if (name === 'checkpoint') items[at] = { checkpoint: json, blobs: [], pending_writes: [], parent_pending_sends: [] }
    else {
      const members = items[at]?.[name as keyof Parts]
      if (members && members.length > 0) members.push(COMMA)
      members?.push(...partOf(json, base64))
    }
  }
  return items
}

/** An item as its own JSON. */
const present = ({ checkpoint, ...members }: Item, parts: Parts): Buffer[] => {
  const lists = PART_NAMES.filter((part) => parts[part]).flatMap((part, index) => [
    ...(index === 0 ? [] : [END_LIST.subarray(0, 1)]),
    LIST_HEADS[part]!,
    ...members[part],
  ])
  return lists.length === 0 ? [checkpoint, CLOSE] : [checkpoint, ...lists, END_LIST]
}

/** What one checkpoint and all that is answered with it may weigh, in bytes, before base64; each value counts 1 KiB more. */
export const MAX_TUPLE_BYTES = 67_108_864

/**
 * The checkpoints of a page as JSON, with what was asked for beside them, in one statement and one snapshot. They go from
 * the driver to the socket as bytes.
 *
 * @throws ApiError `tuple_too_large` when the first of them alone weighs more than one may
 */
export const readTuples = async (
  { sql }: Pick<Database, 'sql'>,
  { text, parts }: TupleStatement,
  parameters: (string | number)[],
): Promise<Buffer[][]> => {
  const rows = await orRefusal(sql.unsafe(text, parameters, { prepare: true }).raw())
  return itemsOf(rows as unknown as Row[]).map((item) => present(item, parts))
}

/** An answer of one item, or of `null`. */
export const oneItem = ([item]: Buffer[][]): JsonBytes => new JsonBytes(Buffer.concat(item ?? [Buffer.from('null')]))

/** An answer that is the array of the items. */
export const arrayOf = (items: Buffer[][]): JsonBytes => {
  const separated = items.flatMap((item, index) => (index === 0 ? item : [COMMA, ...item]))
  return new JsonBytes(Buffer.concat([Buffer.from('['), ...separated, Buffer.from(']')]))
}
