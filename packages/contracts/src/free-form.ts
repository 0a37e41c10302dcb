import { z } from '@hono/zod-openapi'
import { checkOf } from './check-of.ts'
import { JsonText, jsonTextOf } from './json-text.ts'
import { utf8Bytes } from './text.ts'

export type JsonObject = { [key: string]: unknown }

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The plain value of a free-form field, for looking at; see {@link JsonText}. */
export const plainValue = (value: unknown): unknown => (value instanceof JsonText ? value.value : value)

const OBJECT = { type: 'object', additionalProperties: true } as const

/** Any JSON value, kept as the caller's own text. */
export const FreeFormValue = z
  .custom<unknown>((value) => value !== undefined, { error: 'expected a JSON value' })
  .openapi({
    type: ['object', 'array', 'string', 'number', 'boolean', 'null'],
    description: 'Any JSON value, kept as sent',
  })

/** A map of unknown, kept as the caller's own text. */
export const FreeFormObject = z
  .custom<JsonObject | JsonText>((value) => isJsonObject(plainValue(value)), { error: 'expected an object' })
  .openapi(OBJECT)

/** A map of unknown or an array of such maps, kept as the caller's own text. */
export const FreeFormObjects = z
  .custom<JsonObject | JsonObject[] | JsonText>(
    (value) => {
      const json = plainValue(value)
      return isJsonObject(json) || (Array.isArray(json) && json.every(isJsonObject))
    },
    { error: 'expected an object or an array of objects' },
  )
  .openapi({ type: ['object', 'array'], additionalProperties: true, items: OBJECT })

/** The largest metadata of a record, in bytes of JSON text. */
export const METADATA_LIMIT_BYTES = 65_536

/** The metadata of a record: a map of unknown of at most 64 KiB. */
export const Metadata = FreeFormObject.refine((value) => utf8Bytes(jsonTextOf(value)) <= METADATA_LIMIT_BYTES, {
  error: `must be at most ${METADATA_LIMIT_BYTES} bytes of JSON`,
})

const FREE_FORM: ReadonlySet<unknown> = new Set([FreeFormValue, FreeFormObject, FreeFormObjects].map(checkOf))

/** Whether a schema, whatever description, example or rule was added to it, holds free-form JSON. */
export const isFreeForm = (schema: z.core.$ZodType): boolean => FREE_FORM.has(checkOf(schema))
