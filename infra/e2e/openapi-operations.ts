import fc from 'fast-check'
import { RULES } from './openapi-rules.ts'
import { valuesOf, wrongBodies, type Components, type Reach, type Schema } from './schema-arbitrary.ts'

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

/** `right` must be accepted, `wrong` refused; what a document merely allows may be either, as declared. */
export type Kind = 'right' | 'allowed' | 'wrong'
export type FuzzRequest = { path: string; body: unknown; kind: Kind }

const parametersIn = (place: string, { parameters = [] }: Operation) => parameters.filter((one) => one.in === place)

/** A long poll would use up the time that many requests can have. */
const bounded = ({ name, schema }: Parameter): Schema =>
  name === 'wait' ? { ...schema, maximum: 0, minimum: 0 } : schema

/** Positions in a list: only those that a list has answered are right. */
const CURSORS: ReadonlySet<string> = new Set(['starting_after', 'ending_before', 'cursor'])

const encode = (value: unknown) => encodeURIComponent(typeof value === 'string' ? value : JSON.stringify(value))

const queryOf = (queries: readonly Parameter[], components: Components, reach: Reach) =>
  fc.record(Object.fromEntries(queries.map((one) => [one.name, valuesOf(bounded(one), components, reach)])), {
    requiredKeys: queries.filter(({ required }) => required).map(({ name }) => name),
  })

type Parts = { params: unknown[]; query: Record<string, unknown>; body: unknown; kind: Kind }

const requestOf = (operation: Operation, { params, query, body, kind }: Parts): FuzzRequest => {
  const values = params.map((value) => encode(value) || 'empty')
  const path = operation.path.replaceAll(/\{\w+\}/g, () => values.shift() ?? 'none')
  // A query has no word for null.
  const said = Object.entries(query).filter(([, value]) => kind !== 'right' || value !== null)
  const search = said.map(([name, value]) => `${name}=${encode(value)}`)
  return { path: search.length > 0 ? `${path}?${search.join('&')}` : path, body, kind }
}

/** Requests to an operation: ordinary ones, whatever else the document allows, and wrong ones; known ids are among those in the path. */
export const requestsTo = (
  operation: Operation,
  { components }: Document,
  ids: string[],
): fc.Arbitrary<FuzzRequest> => {
  const known = fc.nat().map((index) => ids[index % Math.max(ids.length, 1)] ?? 'unknown')
  const schema = operation.requestBody?.content['application/json']?.schema
  const queries = parametersIn('query', operation)
  const paths = parametersIn('path', operation)
  const knownWithin = (reach: Reach) =>
    reach === 'ordinary' ? known.map((id) => id.replaceAll(/[^\w-]/g, 'x')) : known
  const paramsOf = (reach: Reach) =>
    fc.tuple(...paths.map((one) => fc.oneof(knownWithin(reach), valuesOf(one.schema, components, reach))))
  const bodyOf = (reach: Reach) => (schema ? valuesOf(schema, components, reach) : fc.constant(undefined))

  const right = fc
    .record({
      params: paramsOf('ordinary'),
      query: queryOf(
        queries.filter(({ name }) => !CURSORS.has(name)),
        components,
        'ordinary',
      ),
      body: bodyOf('ordinary'),
      kind: fc.constant('right' as const),
    })
    .map((parts) => ({ ...parts, ...RULES[operation.operationId]?.(parts) }))
  const allowed = fc.record({
    params: paramsOf('everything'),
    query: queryOf(queries, components, 'everything'),
    body: bodyOf('everything'),
    kind: fc.constant('allowed' as const),
  })
  const wrongBody = schema ? wrongBodies(schema, components) : null
  const refusable = queries.filter((one) => wrongValue(one) !== null)
  const spoilt = refusable.map((one) =>
    allowed.map((parts) => ({ ...parts, query: { ...parts.query, [one.name]: wrongValue(one) } })),
  )
  const wrong = [
    ...(wrongBody ? [fc.tuple(allowed, wrongBody).map(([parts, body]) => ({ ...parts, body }))] : []),
    ...spoilt,
  ]
  const parts: fc.Arbitrary<Parts>[] = [
    right,
    allowed,
    ...wrong.map((one) => one.map((made) => ({ ...made, kind: 'wrong' as const }))),
  ]
  return fc.oneof(...parts).map((made) => requestOf(operation, made))
}
