import type { z } from 'zod'
import { jsonReader } from './json-reader.ts'
import { shapeOf } from './json-shape.ts'

/**
 * A reader of JSON that was checked against a schema before it was stored: free-form values arrive as `JsonText` again,
 * so that what is changed and stored anew keeps their text.
 */
export const storedJson = <Schema extends z.ZodType>(schema: Schema): ((text: string) => z.output<Schema>) => {
  const read = jsonReader(shapeOf(schema))
  return (text) => read(Buffer.from(text)) as z.output<Schema>
}
