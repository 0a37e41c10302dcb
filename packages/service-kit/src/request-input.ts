import { JsonText, type Route } from '@keelson/contracts'
import type { core, z } from 'zod'
import { ApiError } from './api-error.ts'
import { jsonReader, textReader } from './json-reader.ts'
import { type Shape, shapeOf } from './json-shape.ts'
import { requireJson } from './media-type.ts'
import { readBody } from './request-body.ts'
import type { RequestFacts } from './request-facts.ts'
import { pathPattern, readParams, readQuery } from './request-target.ts'
import { fieldProblems } from './zod-issues.ts'

type Outcome = { success: true; data: unknown } | { success: false; error: core.$ZodError }
type Schema = core.$ZodType & { safeParse: (value: unknown) => Outcome }

const NO_BYTES = new Uint8Array()

const validate = (schema: Schema, shape: Shape, value: unknown): unknown => {
  const outcome = schema.safeParse(value)
  if (outcome.success) return outcome.data
  const errors = fieldProblems(outcome.error.issues, shape)
  throw new ApiError('invalid_request', 'The request is not valid', { errors })
}

const paramsReader = (path: string, schema: Schema | undefined) => {
  const pattern = pathPattern(path)
  return (facts: RequestFacts): unknown => {
    const outcome = schema?.safeParse(readParams(pattern, facts.path))
    // An id that cannot be is an id that does not exist.
    if (outcome?.success === false) throw new ApiError('not_found')
    return outcome?.data
  }
}

const queryReader = (schema: Schema | undefined) => {
  const shape = schema && shapeOf(schema)
  const declared = new Set(shape?.keys?.keys())
  return ({ query }: RequestFacts): unknown => {
    const values = readQuery(declared, query)
    return schema && shape && validate(schema, shape, values)
  }
}

const bodyReader = (limitBytes: number, schema: Schema | undefined) => {
  if (!schema) return { bytes: async () => NO_BYTES, parse: () => undefined }
  const shape = shapeOf(schema)
  const readJson = jsonReader(shape)
  return {
    bytes: async (request: Request, facts: RequestFacts): Promise<Uint8Array> => {
      requireJson(facts.received)
      return await readBody(request, facts, limitBytes)
    },
    parse: (bytes: Uint8Array): unknown => validate(schema, shape, readJson(bytes)),
  }
}

/**
 * A reader of one item of a batch whose items the contract leaves free-form, so that a bad one sinks no other: checked
 * and grafted like a body, then validated. What the `value` of the item
 * holds is changed by it.
 *
 * @throws ApiError `invalid_request`, or `malformed_json` for a name given twice; paths begin at the item
 */
export const itemReader = <S extends z.ZodType>(schema: S) => {
  const shape = shapeOf(schema)
  const readText = textReader(shape)
  return (item: unknown): z.output<S> =>
    validate(schema, shape, item instanceof JsonText ? readText(item) : item) as z.output<S>
}

/** Reads the parts of an operation's requests; whatever can be prepared is prepared when it is mounted. */
export const inputReader = ({ path, schemas }: Route, bodyLimitBytes: number) => {
  const { params, query, body } = schemas as Record<string, Schema | undefined>
  return { params: paramsReader(path, params), query: queryReader(query), body: bodyReader(bodyLimitBytes, body) }
}
