import { exampleOf, type ExampleSchema, type Schemas } from './example-value.ts'

type Operation = {
  operationId: string
  summary: string
  requestBody?: { content: Record<string, { schema: ExampleSchema }> }
}
export type HttpDocument = { paths: Record<string, Record<string, Operation>>; components: { schemas: Schemas } }

/** How a service's requests begin, and what its examples need that no schema says. */
export type HttpSource = {
  document: HttpDocument
  baseUrl: string
  /** The header with the key, `{{key}}` standing for it. */
  keyHeader: string
  /** What stands for a parameter of a path: often what an earlier request was answered. */
  params: Record<string, string>
  /** Queries, by operation. */
  queries: Record<string, string>
  /** Members of bodies that differ from the examples, `undefined` those that are left out, by operation. */
  bodies: Record<string, object>
  /** More lines of the head, by operation; they stand for the key. */
  heads: Record<string, string[]>
  /** Operations that come first, in this order, and those that come last. */
  first: readonly string[]
  last: readonly string[]
}

type Named = Operation & { method: string; path: string }

const inOrder = (operations: Named[], { first, last }: HttpSource): Named[] => {
  const place = ({ operationId }: Named) => {
    if (first.includes(operationId)) return first.indexOf(operationId) - first.length
    return last.indexOf(operationId) + 1
  }
  return operations.toSorted((one, other) => place(one) - place(other))
}

const bodyOf = ({ operationId, requestBody }: Named, { document, bodies }: HttpSource): string | null => {
  const schema = requestBody?.content['application/json']?.schema
  if (!schema) return bodies[operationId] ? JSON.stringify(bodies[operationId], null, 2) : null
  const example = exampleOf(schema, document.components.schemas) as object
  return JSON.stringify({ ...example, ...bodies[operationId] }, null, 2)
}

const requestOf = (operation: Named, source: HttpSource): string => {
  const { operationId, summary, method, path } = operation
  const target = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => source.params[name] ?? name)
  const query = source.queries[operationId] ? `?${source.queries[operationId]}` : ''
  const body = bodyOf(operation, source)
  const head = [
    `### ${summary}`,
    `# @name ${operationId}`,
    `${method.toUpperCase()} {{baseUrl}}${target}${query}`,
    ...(source.heads[operationId] ?? [source.keyHeader]),
    ...(body === null ? [] : ['Content-Type: application/json']),
  ]
  return [...head, ...(body === null ? [] : ['', body])].join('\n')
}

/**
 * Every operation of a service as a request that works, in the order that they need: a `.http` file as VS Code's REST
 * Client reads it, where `{{createSpan.response.body.$.id}}` is what an earlier request was answered.
 */
export const httpRequests = (source: HttpSource): string => {
  const operations = Object.entries(source.document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ ...operation, method, path })),
  )
  const requests = inOrder(operations, source).map((operation) => requestOf(operation, source))
  const agent = JSON.stringify(source.bodies).includes('{{agent}}') ? ['@agent = http://127.0.0.1:8000'] : []
  const variables = [`@baseUrl = ${source.baseUrl}`, '@key = YOUR_KEY', ...agent]
  return `# Written by \`pnpm openapi\` from the examples of the contracts. Set the key; \`npm start\` prints one.\n${variables.join('\n')}\n\n${requests.join('\n\n')}\n`
}
