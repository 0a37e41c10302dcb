import fc from 'fast-check'

/** The part of JSON Schema that the documents use. */
export type Schema = {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  format?: string
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  exclusiveMinimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
}

export type Components = { schemas: Record<string, Schema> }

const LONGEST = 300
const TRICKY = [
  '',
  ' ',
  '0',
  'null',
  '__proto__',
  '\u{1F468}\u200D\u{1F469}',
  "'; drop table x; --",
  '../..',
  '%00',
  '\u202E',
  'é',
]

const FORMATS: Record<string, fc.Arbitrary<string>> = {
  'date-time': fc
    .date({ min: new Date('1990-01-01'), max: new Date('2090-01-01'), noInvalidDate: true })
    .map((date) => date.toISOString()),
  uri: fc.constantFrom('https://agent.example/acp', 'http://127.0.0.1:9/'),
  byte: fc.uint8Array({ maxLength: 48 }).map((bytes) => Buffer.from(bytes).toString('base64')),
}

/** How far values go: to what a document allows to the letter, or only to what nobody could refuse. */
export type Reach = 'everything' | 'ordinary'

const ORDINARY = fc.stringMatching(/^[a-z][a-z0-9]{2,11}$/)

const text = (schema: Schema, reach: Reach): fc.Arbitrary<string> => {
  const { format, pattern, minLength = 0, maxLength = LONGEST } = schema
  if (format && FORMATS[format]) return FORMATS[format]
  if (pattern) return fc.stringMatching(new RegExp(pattern))
  const most = Math.min(maxLength, LONGEST)
  if (reach === 'ordinary') return ORDINARY.map((word) => word.padEnd(minLength, 'x').slice(0, most))
  const fitting = TRICKY.filter((one) => one.length >= minLength && one.length <= most)
  const bounds = [minLength, most].filter((length) => length > 0).map((length) => 'x'.repeat(length))
  return fc.oneof(
    fc.string({ minLength, maxLength: most, unit: 'grapheme', size: 'small' }),
    fc.constantFrom('x', ...fitting, ...bounds),
  )
}

const number = ({ type, minimum, exclusiveMinimum, maximum }: Schema): fc.Arbitrary<number> => {
  const min = minimum ?? (exclusiveMinimum === undefined ? -1_000_000 : exclusiveMinimum + 1)
  const max = maximum ?? Math.max(min, 1_000_000)
  const within = type === 'integer' ? fc.integer({ min, max }) : fc.double({ min, max, noNaN: true })
  return fc.oneof(within, fc.constantFrom(min, max))
}

/** Values that a schema allows, its bounds among them. */
export const valuesOf = (
  schema: Schema,
  components: Components,
  reach: Reach = 'everything',
): fc.Arbitrary<unknown> => {
  const of = (part: Schema): fc.Arbitrary<unknown> => valuesOf(part, components, reach)
  if (schema.$ref) return of(components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {})
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const options = schema.anyOf ?? schema.oneOf
  if (options) return fc.oneof(...options.map(of))
  if (schema.allOf)
    return fc
      .tuple(...schema.allOf.map(of))
      .map((parts) => (parts.every((part) => typeof part === 'object') ? Object.assign({}, ...parts) : parts[0]))
  if (Array.isArray(schema.type)) return fc.oneof(...schema.type.map((type) => of({ ...schema, type })))
  if (schema.type === 'string') return text(schema, reach)
  if (schema.type === 'integer' || schema.type === 'number') return number(schema)
  if (schema.type === 'boolean') return fc.boolean()
  if (schema.type === 'null') return fc.constant(null)
  if (schema.type === 'array')
    return fc.array(of(schema.items ?? {}), {
      minLength: schema.minItems ?? 0,
      maxLength: Math.min(schema.maxItems ?? 4, 4),
    })
  if (schema.type === 'object' || schema.properties) return object(schema, of, reach)
  return reach === 'ordinary' ? fc.oneof(ORDINARY, fc.nat(), fc.boolean()) : fc.jsonValue({ maxDepth: 2 })
}

const object = (
  { properties = {}, required = [], additionalProperties }: Schema,
  of: (part: Schema) => fc.Arbitrary<unknown>,
  reach: Reach,
): fc.Arbitrary<unknown> => {
  const declared = fc.record(Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, of(part)])), {
    requiredKeys: required,
    noNullPrototype: true,
  })
  if (!additionalProperties) return declared
  const rest = fc.dictionary(
    reach === 'ordinary' ? ORDINARY : fc.string({ maxLength: 20 }),
    of(additionalProperties === true ? {} : additionalProperties),
    {
      maxKeys: 3,
      noNullPrototype: true,
    },
  )
  return fc.tuple(rest, declared).map(([others, known]) => ({ ...others, ...(known as object) }))
}

const WRONG = new Map<string, unknown>([
  ['string', 5],
  ['integer', 'five'],
  ['number', 'five'],
  ['boolean', 'yes'],
  ['array', 'list'],
  ['object', 'object'],
])

const LONGEST_WRONG = 20_000

/** Just beyond what a schema allows. */
const beyond = ({ enum: choices, type, minimum, maximum, maxLength, maxItems }: Schema): unknown[] => [
  ...(choices && typeof choices[0] === 'string' ? ['none of these'] : []),
  ...(typeof type === 'string' && WRONG.has(type) ? [WRONG.get(type)] : []),
  ...(minimum === undefined ? [] : [minimum - 1]),
  ...(maximum === undefined ? [] : [maximum + 1]),
  ...(maxLength !== undefined && maxLength < LONGEST_WRONG ? ['x'.repeat(maxLength + 1)] : []),
  ...(maxItems !== undefined && maxItems < LONGEST_WRONG ? [Array.from({ length: maxItems + 1 }, () => null)] : []),
]

/** Bodies of which one declared member is missing or of another type or out of bounds; none where the schema lets nothing be wrong. */
export const wrongBodies = (schema: Schema, components: Components): fc.Arbitrary<unknown> | null => {
  const target = schema.$ref ? (components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema
  const { properties = {}, required = [] } = target
  const named = (part: Schema): Schema =>
    part.$ref ? (components.schemas[part.$ref.split('/').at(-1) ?? ''] ?? {}) : part
  const typed = Object.entries(properties).flatMap(([name, part]) =>
    beyond(named(part)).map((wrong) => ({ name, wrong })),
  )
  const missing = required.map((name) => ({ name, wrong: undefined }))
  if (typed.length + missing.length === 0) return null
  return fc
    .tuple(valuesOf(target, components), fc.constantFrom(...typed, ...missing))
    .map(([body, { name, wrong }]) => ({ ...(body as object), [name]: wrong }))
}
