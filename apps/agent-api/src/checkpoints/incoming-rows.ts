/** Up to so many rows each value is a parameter of its own: the cheapest way for large values. */
const MAX_ROWS = 24

type Incoming = { text: string | null; parameters: (string | null)[] }

/** Rows of texts as the source of an insert; `first` is the number of their first parameter. Without rows, no text. */
export const incomingRows = <Name extends string>(
  rows: readonly { [Column in Name]?: string | number | null | undefined }[],
  columns: readonly Name[],
  first: number,
): Incoming => {
  if (rows.length === 0) return { text: null, parameters: [] }
  if (rows.length > MAX_ROWS) {
    const types = columns.map((column) => `${column} text`).join(', ')
    return {
      text: `select * from json_to_recordset($${first}::text::json) as _ (${types})`,
      parameters: [JSON.stringify(rows)],
    }
  }
  const width = columns.length
  const placesOf = (row: number) => columns.map((_, column) => `$${first + row * width + column}`).join(', ')
  const parameters = rows.flatMap((row) => columns.map((column) => row[column]?.toString() ?? null))
  return { text: `values ${rows.map((_, row) => `(${placesOf(row)})`).join(', ')}`, parameters }
}
