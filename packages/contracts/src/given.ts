import { z } from '@hono/zod-openapi'

/** Tells the document that `null` is accepted; see `openapi-null.ts`. */
const TAKES_NULL = { 'x-takes-null': true } as const

const noNull = <Value>(value: Value | null | undefined): Value | undefined => value ?? undefined

/**
 * An optional field of a request: `null` means "not given". What is said of a named schema is said inside, as in
 * `given(Named.openapi({ description }))`: outside, the document would lose the name.
 */
export const given = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess(noNull<z.input<Schema>>, schema.optional().openapi(TAKES_NULL))

/** An optional field of a request with a default: `null` means "not given". */
export const givenOr = <Schema extends z.ZodType>(schema: Schema, fallback: z.output<Schema>) =>
  z.preprocess(
    noNull<z.input<Schema>>,
    schema.default(fallback as z.util.NoUndefined<z.output<Schema>>).openapi({ ...TAKES_NULL, default: fallback }),
  )

/** A field that may be `null`: of a response, or where `null` has a meaning of its own. */
export const nullable = <Schema extends z.ZodType>(schema: Schema) => schema.nullable().openapi(TAKES_NULL)

/** A field that belongs to another variant of the request; `null` says it is not there. */
export const refused = (error: string) =>
  given(z.never({ error })).openapi({ type: 'null', description: `Refused: ${error}` })

type Fields = Record<string, z.ZodType>

const mapFields = (fields: Fields, map: (field: z.ZodType) => z.ZodType): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, map(field)]))

type AllGiven<Shape extends Fields> = { [Name in keyof Shape]: ReturnType<typeof given<Shape[Name]>> }

/** Every field {@link given}. */
export const allGiven = <Shape extends Fields>(shape: Shape) => mapFields(shape, given) as AllGiven<Shape>

type AllClearable<Shape extends Fields> = { [Name in keyof Shape]: z.ZodOptional<z.ZodNullable<Shape[Name]>> }

/** Every field optional, where `null` means "remove what is there". */
export const allClearable = <Shape extends Fields>(shape: Shape) =>
  mapFields(shape, (field) => nullable(field).optional()) as AllClearable<Shape>

type AllOptional<Shape extends Fields> = { [Name in keyof Shape]: z.ZodOptional<Shape[Name]> }

/** Every field of a response that may be absent. */
export const allOptional = <Shape extends Fields>(shape: Shape) =>
  mapFields(shape, (field) => field.optional()) as AllOptional<Shape>
