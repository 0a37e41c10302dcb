import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agentRoutes } from './agent/index.ts'
import { agentDocument, platformDocument } from './documents.ts'
import { SCOPES } from './scopes.ts'
import { platformRoutes } from './platform/index.ts'

type Operation = {
  operationId: string
  summary: string
  tags: string[]
  parameters: { $ref?: string; name?: string }[]
  responses: Record<string, { headers: Record<string, unknown>; content?: Record<string, { schema: unknown }> }>
  security: Record<string, string[]>[]
  'x-keelson-extension'?: boolean
  'x-body-limit-bytes'?: number
}
type Document = {
  openapi: string
  info: { version: string }
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, { type?: unknown; description?: string }>; securitySchemes: object }
}

const PLATFORM = `
  POST /v5/credentials
  GET /v5/credentials
  GET /v5/credentials/{credential_id}
  GET /v5/credentials/name/{credential_name}
  POST /v5/credentials/{credential_id}/secret
  POST /v5/credentials/name/{credential_name}/secret
  PATCH /v5/credentials/{credential_id}
  DELETE /v5/credentials/{credential_id}
  POST /v5/models
  GET /v5/models
  GET /v5/models/{model_id}
  PATCH /v5/models/{model_id}
  DELETE /v5/models/{model_id}`

const AGENT = `
  POST /spans
  GET /spans
  PATCH /spans/{span_id}
  GET /spans/{span_id}
  POST /checkpoints/get-tuple
  POST /checkpoints/put
  POST /checkpoints/put-writes
  POST /checkpoints/list
  POST /checkpoints/delete-thread
  POST /agent_api_keys/webhook-trigger
  POST /agents/register
  GET /agents
  GET /agents/{agent_id}
  GET /agents/name/{agent_name}
  DELETE /agents/{agent_id}
  POST /agent_api_keys
  GET /agent_api_keys
  GET /agent_api_keys/{key_id}
  DELETE /agent_api_keys/{key_id}
  GET /agent_api_keys/name/{name}
  DELETE /agent_api_keys/name/{name}
  GET /agents/forward/name/{agent_name}/{path}
  POST /agents/forward/name/{agent_name}/{path}`

const EXTENSIONS = `
  GET /v5/models/{model_id}/deployments
  POST /spans/batch
  PUT /spans/batch
  GET /traces/{trace_id}
  POST /checkpoints/delta-history
  POST /checkpoints/prune
  POST /checkpoints/copy-thread
  POST /checkpoints/delete-by-run
  POST /checkpoints/threads
  POST /checkpoints/get-ttl
  POST /checkpoints/set-ttl
  POST /agent_api_keys/{key_id}/rotate
  GET /webhook_deliveries
  GET /webhook_deliveries/{delivery_id}
  POST /webhook_deliveries/{delivery_id}/replay
  POST /webhook_deliveries/replay`

const lines = (text: string) => text.trim().split(/\n\s*/)

const documents = {
  'platform-api': platformDocument() as unknown as Document,
  'agent-api': agentDocument() as unknown as Document,
}

const operationsOf = (document: Document) =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ line: `${method.toUpperCase()} ${path}`, operation })),
  )

const isProblemOnly = ({ content = {} }: Operation['responses'][string]) =>
  Object.keys(content).join() === 'application/problem+json'

const all = Object.values(documents).flatMap(operationsOf)
const namesOf = (text: string) =>
  [...text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name ?? '')

describe('the OpenAPI documents', () => {
  test.each([
    ['platform-api', PLATFORM],
    ['agent-api', AGENT],
  ] as const)(
    'of %s hold every operation that is promised, and nothing else but marked extensions',
    (name, promised) => {
      const operations = operationsOf(documents[name])
      const own = operations.filter(({ operation }) => !operation['x-keelson-extension'])
      expect(own.map(({ line }) => line).toSorted()).toEqual(lines(promised).toSorted())
    },
  )

  test('mark every extension', () => {
    const extensions = all.filter(({ operation }) => operation['x-keelson-extension'])
    expect(extensions.map(({ line }) => line).toSorted()).toEqual(lines(EXTENSIONS).toSorted())
  })

  test.each(['platform-api', 'agent-api'] as const)(
    'are committed as %s.json: run `pnpm openapi` when this fails',
    async (name) => {
      const committed = await readFile(join(import.meta.dirname, '..', 'openapi', `${name}.json`), 'utf8')
      expect(`${JSON.stringify(documents[name], null, 2)}\n` === committed).toBe(true)
    },
  )

  test.each(Object.entries(documents))('name every schema of %s once, and all that is referred to', (_, document) => {
    const { schemas } = document.components
    expect([...new Set(namesOf(JSON.stringify(document)))].toSorted()).toEqual(Object.keys(schemas).toSorted())
    for (const [name, schema] of Object.entries(schemas)) {
      expect(name).toMatch(/^[A-Z][A-Za-z]+$/)
      expect([name, [schema.type].flat().includes('null')]).toEqual([name, false])
    }
    expect(JSON.stringify(document)).not.toContain('x-takes-null')
    expect([document.openapi, document.info.version]).toEqual(['3.1.0', '0.1.0'])
  })

  test('name every body that is an object', () => {
    const inline = [...platformRoutes, ...agentRoutes]
      .filter(({ schemas }) => schemas.body)
      .map(({ operationId }) => operationId)
    const named = all.filter(({ operation }) =>
      /"requestBody":\{"required":true,"content":\{"application\/json":\{"schema":\{"\$ref"/.test(
        JSON.stringify(operation),
      ),
    )
    expect(named.map(({ operation }) => operation.operationId).toSorted()).toEqual(inline.toSorted())
  })

  test('give every operation a summary, a scope, its problems and the headers', () => {
    for (const { line, operation } of all) {
      const { summary, tags, parameters, responses, security, operationId } = operation
      const references = parameters.map(({ $ref }) => $ref?.split('/').at(-1))
      expect([
        line,
        summary.length > 5,
        tags.length,
        new Set(parameters.map((one) => JSON.stringify(one))).size,
      ]).toEqual([line, true, 1, parameters.length])
      expect(references).toContain('RequestId')
      for (const [status, response] of Object.entries(responses)) {
        expect(response.headers).toHaveProperty('x-request-id')
        expect([line, isProblemOnly(response) === Number(status) >= 400]).toEqual([line, true])
      }
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(['400', '401', '429', '500', '503']))
      if (operationId.startsWith('forward')) continue
      expect(references.includes('IdempotencyKey')).toBe(/^(POST|PATCH)/.test(line))
      expect(Object.values(security[0] ?? {}).flat()).toHaveLength(1)
      expect(SCOPES).toContain(Object.values(security[0] ?? {}).flat()[0])
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(['403', '422']))
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(line.includes('{') ? ['404'] : []))
    }
  })

  test('tell the limits of bodies', () => {
    const limits = Object.fromEntries(
      all.map(({ operation }) => [operation.operationId, operation['x-body-limit-bytes']]),
    )
    expect(limits).toMatchObject({
      createCredential: 1_048_576,
      createSpan: 4_194_304,
      updateSpan: 4_194_304,
      createSpanBatch: 16_777_216,
      putSpanBatch: 16_777_216,
      putCheckpoint: 33_554_432,
      putCheckpointWrites: 33_554_432,
    })
    expect(limits['listSpans']).toBeUndefined()
  })

  test('use every scope, and every operation id once', () => {
    const used = new Set([...platformRoutes, ...agentRoutes].map(({ scope }) => scope))
    expect(used).toEqual(new Set(SCOPES))
    expect(new Set(all.map(({ operation }) => operation.operationId)).size).toBe(all.length)
  })
})
