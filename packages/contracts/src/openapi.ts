import { OpenAPIHono, type z } from '@hono/zod-openapi'
import { writeNulls } from './openapi-null.ts'
import { documentedOperation, sharedHeaders, sharedParameters } from './openapi-operation.ts'
import { smallestFirst } from './schema-parts.ts'

export type OpenApiDocument = ReturnType<OpenAPIHono['getOpenAPI31Document']>

type Registry = OpenAPIHono['openAPIRegistry']

/** What a document is made of: any `@hono/zod-openapi` routes, and what OpenAPI says around them. */
export type DocumentSource = {
  info: OpenApiDocument['info']
  servers: NonNullable<OpenApiDocument['servers']>
  tags: NonNullable<OpenApiDocument['tags']>
  securitySchemes: Record<string, Parameters<Registry['registerComponent']>[2]>
  /** The schemes that authenticate an operation with a scope: any one of them does. */
  keySchemes: readonly string[]
  routes: readonly Parameters<Registry['registerPath']>[0][]
  /** Components that no route refers to by itself. */
  schemas?: Record<string, z.ZodType>
}

const byName = <Value>(members: Record<string, Value> | undefined): Record<string, Value> =>
  Object.fromEntries(Object.entries(members ?? {}).toSorted(([one], [other]) => (one < other ? -1 : 1)))

/** Writes an OpenAPI 3.1 document from routes alone: no service, no network, the same bytes every time. */
export const openApiDocument = (source: DocumentSource): OpenApiDocument => {
  const { info, servers, tags, securitySchemes, keySchemes, routes, schemas = {} } = source
  const app = new OpenAPIHono()
  const registry = app.openAPIRegistry
  for (const [name, scheme] of Object.entries(securitySchemes))
    registry.registerComponent('securitySchemes', name, scheme)
  // In this order a schema is a component before anything says of it that it may be null.
  for (const [name, schema] of smallestFirst(schemas)) registry.register(name, schema)
  for (const [name, parameter] of Object.entries(sharedParameters))
    registry.registerComponent('parameters', name, parameter)
  for (const [name, header] of Object.entries(sharedHeaders)) registry.registerComponent('headers', name, header)
  for (const route of routes) registry.registerPath(documentedOperation(route, keySchemes))
  const {
    components,
    webhooks: _none,
    ...document
  } = app.getOpenAPI31Document({ openapi: '3.1.0', info, servers, tags })
  return writeNulls({ ...document, components: { ...components, schemas: byName(components?.schemas) } })
}
