import { Base64Bytes } from '@keelson/contracts'
import { TextBytes } from '@keelson/database'

type Value = string | number | readonly string[] | Base64Bytes | null | undefined

/** Rows as the source of an insert, and its parameters, as the driver takes them. */
export type RowSource = { text: string; parameters: string[] }

const parameterOf = (value: Value): unknown =>
  value instanceof Base64Bytes ? new TextBytes(value.bytes) : (value ?? null)

/** Which checkpoint a put is of, and which of the puts of a statement it is. */
export const PUT_KEY = {
  put: 'integer',
  account_id: 'text',
  thread_id: 'text',
  checkpoint_ns: 'text',
  checkpoint_id: 'text',
} as const

/** Up to so many rows each value is a parameter of its own: the cheapest way for large values. */
const MAX_VALUES_ROWS = 24

/**
 * Rows as a select with these columns; `first` is the number of its first parameter. As JSON they are one parameter, and
 * the statement's text is the same for any number of them: for many small rows.
 */
export const rowSource = <Name extends string>(
  rows: readonly { [Column in NoInfer<Name>]?: Value }[],
  columns: Record<Name, string>,
  first: number,
  asJson = rows.length > MAX_VALUES_ROWS,
): RowSource => {
  const names = Object.keys(columns) as Name[]
  if (asJson) {
    const types = names.map((name) => `${name} ${columns[name]}`).join(', ')
    return {
      text: `select * from json_to_recordset($${first}::text::json) as _ (${types})`,
      parameters: [JSON.stringify(rows)],
    }
  }
  let next = first
  const placesOf = () => `(${names.map((name) => `$${next++}::${columns[name]}`).join(', ')})`
  return {
    text: `select * from (values ${rows.map(placesOf).join(', ')}) as _ (${names.join(', ')})`,
    parameters: rows.flatMap((row) => names.map((name) => parameterOf(row[name]) as string)),
  }
}
