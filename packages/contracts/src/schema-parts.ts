import type { z } from '@hono/zod-openapi'

type Schema = z.core.$ZodType

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null && '_zod' in value

const schemasIn = (value: unknown): Schema[] => {
  if (isSchema(value)) return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).filter(isSchema) : []
}

/** A schema and every schema it is made of. */
const partsOf = (schema: Schema, found = new Set<Schema>()): Set<Schema> => {
  if (found.has(schema)) return found
  found.add(schema)
  for (const part of Object.values(schema._zod.def).flatMap(schemasIn)) partsOf(part, found)
  return found
}

/** Named schemas, those that others are made of first. */
export const smallestFirst = <S extends Schema>(schemas: Record<string, S>): [string, S][] =>
  Object.entries(schemas)
    .map(([name, schema]) => ({ name, schema, size: partsOf(schema).size }))
    .toSorted((one, other) => one.size - other.size)
    .map(({ name, schema }) => [name, schema])
