/** The part of JSON Schema that examples are made from. */
export type ExampleSchema = {
  $ref?: string
  type?: string | string[]
  example?: unknown
  default?: unknown
  const?: unknown
  enum?: unknown[]
  anyOf?: ExampleSchema[]
  oneOf?: ExampleSchema[]
  allOf?: ExampleSchema[]
  properties?: Record<string, ExampleSchema>
  required?: string[]
  items?: ExampleSchema
  minimum?: number
}

export type Schemas = Record<string, ExampleSchema>

const EMPTY: Record<string, unknown> = { string: '', object: {}, array: [], boolean: false }

const objectExample = ({ properties = {}, required = [] }: ExampleSchema, schemas: Schemas): object => {
  const told = Object.keys(properties).filter((name) => properties[name]?.example !== undefined)
  const names = required.length > 0 ? required : told
  return Object.fromEntries(names.map((name) => [name, exampleOf(properties[name] ?? {}, schemas)]))
}

/** A value that a schema allows: its own example, else the least that is required, made of the examples of its parts. */
export const exampleOf = (schema: ExampleSchema, schemas: Schemas): unknown => {
  const { $ref, example, enum: choices, anyOf, oneOf, allOf, properties, items, type, minimum } = schema
  if (example !== undefined) return example
  if ($ref !== undefined) return exampleOf(schemas[$ref.split('/').at(-1) ?? ''] ?? {}, schemas)
  if (choices) return schema.default ?? choices[0]
  const part = (anyOf ?? oneOf ?? allOf)?.[0]
  if (part) return exampleOf(part, schemas)
  if (properties) return objectExample(schema, schemas)
  if (items && type === 'array') return [exampleOf(items, schemas)]
  if (type === 'integer' || type === 'number') return schema.default ?? minimum ?? 0
  return schema.const ?? schema.default ?? EMPTY[String(type)] ?? null
}
