import fc from 'fast-check'
import { valuesOf, wrongBodies, type Components, type Schema } from './schema-arbitrary.ts'

type Parameter = { $ref?: string; name: string; in: string; required?: boolean; schema: Schema }
type Media = { schema?: Schema }
export type Response = { $ref?: string; content?: Record<string, Media> }
type Declared = {
  operationId: string
  parameters?: Parameter[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, Response>
  security?: object[]
}
export type Document = { paths: Record<string, Record<string, Declared>>; components: Components }

export type Operation = Declared & { method: string; path: string }

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

export const operationsOf = ({ paths }: Document): Operation[] =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, declared]) =>
      METHODS.includes(method) ? [{ ...declared, method, path }] : [],
    ),
  )

/** The methods of a path that its document does not declare. */
export const undeclaredMethods = ({ paths }: Document, path: string): string[] =>
  METHODS.filter((method) => !Object.keys(paths[path] ?? {}).includes(method))

/** A value that a parameter's schema refuses; `null` where it takes any text. */
const wrongValue = ({ schema }: Parameter): string | null =>
  schema.enum || schema.type === 'integer' || schema.type === 'boolean' ? 'none of these' : null

export type FuzzRequest = { path: string; body: unknown; isWrong: boolean }

const parametersIn = (place: string, { parameters = [] }: Operation) => parameters.filter((one) => one.in === place)

/** A long poll would use up the time that many requests can have. */
const bounded = ({ name, schema }: Parameter): Schema =>
  name === 'wait' ? { ...schema, maximum: 0, minimum: 0 } : schema

const encode = (value: unknown) => encodeURIComponent(typeof value === 'string' ? value : JSON.stringify(value))

/** Requests to an operation: as the document allows them, with known ids among those in the path, and with wrong bodies. */
export const requestsTo = (
  operation: Operation,
  { components }: Document,
  ids: string[],
): fc.Arbitrary<FuzzRequest> => {
  const known = fc.nat().map((index) => ids[index % Math.max(ids.length, 1)] ?? 'unknown')
  const pathParameters = parametersIn('path', operation)
  const inPath = fc.tuple(...pathParameters.map(({ schema }) => fc.oneof(known, valuesOf(schema, components))))
  const queries = parametersIn('query', operation)
  const inQuery = fc.record(Object.fromEntries(queries.map((one) => [one.name, valuesOf(bounded(one), components)])), {
    requiredKeys: queries.filter(({ required }) => required).map(({ name }) => name),
  })
  const schema = operation.requestBody?.content['application/json']?.schema
  const right = (schema ? valuesOf(schema, components) : fc.constant(undefined)).map((body) => ({
    body,
    isWrong: false,
  }))
  const wrong = schema && wrongBodies(schema, components)?.map((body) => ({ body, isWrong: true }))
  const bodies = wrong ? fc.oneof({ weight: 3, arbitrary: right }, { weight: 1, arbitrary: wrong }) : right
  const refusable = queries.filter((one) => wrongValue(one) !== null)
  const wrongQuery = fc
    .nat()
    .map((index) => refusable[index % Math.max(refusable.length, 1)])
    .map((one): Record<string, unknown> => (one ? { [one.name]: wrongValue(one) } : {}))
  const spoilt = fc.oneof({ weight: 4, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: wrongQuery })
  return fc.tuple(inPath, inQuery, bodies, spoilt).map(([params, rightQuery, { body, isWrong }, wrongParts]) => {
    const query = { ...rightQuery, ...wrongParts }
    const values = params.map((value) => encode(value) || 'empty')
    const path = operation.path.replaceAll(/\{\w+\}/g, () => values.shift() ?? 'none')
    const search = Object.entries(query).map(([name, value]) => `${name}=${encode(value)}`)
    const hasWrongQuery = Object.keys(wrongParts).length > 0
    return { path: search.length > 0 ? `${path}?${search.join('&')}` : path, body, isWrong: isWrong || hasWrongQuery }
  })
}
