import agentDocument from '@keelson/contracts/openapi/agent-api.json' with { type: 'json' }
import platformDocument from '@keelson/contracts/openapi/platform-api.json' with { type: 'json' }
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  operationsOf,
  requestsTo,
  undeclaredMethods,
  type Document,
  type FuzzRequest,
  type Operation,
} from './openapi-operations.ts'
import { runningServices, type RunningServices } from './running-services.ts'

/** FUZZ_SEED repeats a run; FUZZ_SECONDS is the time that all operations have together, more for a longer look. */
const seed = Number(process.env['FUZZ_SEED'] || 20_261_121)
const seconds = Number(process.env['FUZZ_SECONDS'] || 16)

const DOCUMENTS = {
  'platform-api': platformDocument as unknown as Document,
  'agent-api': agentDocument as unknown as Document,
}
type Name = keyof typeof DOCUMENTS
const ALL = Object.entries(DOCUMENTS).flatMap(([service, document]) =>
  operationsOf(document).map((operation) => ({ service: service as Name, operation })),
)

let services: RunningServices
const ids: Record<Name, string[]> = { 'platform-api': [], 'agent-api': [] }
/** Nothing serves here: to delete one of these would wait for a vendor. */
const deployed = new Set<string>()
const validators = new Ajv2020({ strict: false, validateFormats: false })
for (const [name, document] of Object.entries(DOCUMENTS)) validators.addSchema(document, name)

beforeAll(async () => {
  process.stdout.write(`fuzz: FUZZ_SEED=${seed} FUZZ_SECONDS=${seconds}\n`)
  services = await runningServices(['platform-api', 'agent-api'])
})

afterAll(async () => await services?.[Symbol.asyncDispose]())

const keyOf = (service: Name): Record<string, string> =>
  service === 'platform-api' ? { 'x-api-key': services.key } : { authorization: `Bearer ${services.key}` }

const send = async (
  service: Name,
  method: string,
  { path, body }: Pick<FuzzRequest, 'path' | 'body'>,
  key = keyOf(service),
) => {
  const content =
    body === undefined ? {} : { body: JSON.stringify(body), headers: { ...key, 'content-type': 'application/json' } }
  const init = { method: method.toUpperCase(), headers: key, redirect: 'manual' as const, ...content }
  const response = await fetch(services.url[service] + path, init)
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** What is wrong with an answer, or null. */
const faultOf = (
  service: Name,
  operation: Operation,
  request: FuzzRequest,
  answer: Awaited<ReturnType<typeof send>>,
) => {
  const { status, text, headers } = answer
  if (status >= 500 && status !== 503) return 'a server error'
  if (!headers.get('x-request-id')) return 'the answer has no request id'
  if (status === 503 && !headers.get('retry-after')) return 'the answer does not say when to come back'
  // An empty segment, or a slash in a name, makes a path that is none of the document's.
  if (status === 404 && text.includes('unknown_path')) return null
  const declared = operation.responses[status]
  if (!declared) return `status ${status} is not declared`
  if (request.kind === 'wrong' && status < 400) return 'a wrong request was accepted'
  if (request.kind === 'right' && (status === 400 || status === 422)) return 'a right request was refused'
  const [type = ''] = (headers.get('content-type') ?? '').split(';')
  if (text === '') return null
  const pointer = ['paths', operation.path, operation.method, 'responses', String(status)]
  const response = '$ref' in declared ? null : declared.content
  if (!response) return null
  if (!(type in response)) return `media type ${type} is not declared for ${status}`
  const steps = [...pointer, 'content', type, 'schema'].map((step) => step.replaceAll('~', '~0').replaceAll('/', '~1'))
  const validate = validators.getSchema(`${service}#/${steps.map(encodeURIComponent).join('/')}`)
  if (validate && !validate(JSON.parse(text)))
    return `the body is not as declared: ${validators.errorsText(validate.errors)}`
  return null
}

const remember = (service: Name, text: string) => {
  const id = /"(?:id|name)":"([^"\\]{1,100})"/.exec(text)?.[1]
  if (id !== undefined && ids[service].length < 200) ids[service].push(id)
  if (id !== undefined && text.includes('"status":"deploying"')) deployed.add(id)
}

/** What was made can be read, and what was deleted cannot: the path of a GET, and the status it must have. */
const followUpOf = (service: Name, { method, path }: Operation, request: FuzzRequest, text: string) => {
  const isRead = (candidate: string) => DOCUMENTS[service].paths[candidate]?.['get'] !== undefined
  if (method === 'delete' && isRead(path)) return { path: request.path, status: 404 }
  const byId = Object.keys(DOCUMENTS[service].paths).find((one) => one.startsWith(`${path}/{`) && one.endsWith('_id}'))
  if (method !== 'post' || byId === undefined || !isRead(byId)) return null
  const { id } = JSON.parse(text) as { id?: string }
  return id === undefined ? null : { path: `${path}/${encodeURIComponent(id)}`, status: 200 }
}

describe.each(ALL.map((one) => [one.operation.operationId, one] as const))('%s', (_id, { service, operation }) => {
  test('answers whatever its document allows, and what it does not, as declared', async () => {
    const requests = requestsTo(operation, DOCUMENTS[service], ids[service])
    const holds = fc.asyncProperty(requests, async (request) => {
      if (operation.operationId === 'deleteModel' && deployed.has(request.path.split('/').at(-1) ?? '')) return
      const answer = await send(service, operation.method, request)
      if (answer.status === 200) remember(service, answer.text)
      const fault = faultOf(service, operation, request, answer)
      if (fault !== null)
        throw new Error(
          `${fault}\n${operation.method} ${request.path}\n${JSON.stringify(request.body)}\n${answer.status} ${answer.text.slice(0, 500)}`,
        )
      const next = answer.status === 200 ? followUpOf(service, operation, request, answer.text) : null
      if (next === null) return
      const { status } = await send(service, 'get', { path: next.path, body: undefined })
      if (status !== next.status) throw new Error(`GET ${next.path} is ${status} after ${operation.method}`)
    })
    // What generates is made by the first use, which the time is not for.
    fc.sample(requests, { numRuns: 1, seed })
    const interruptAfterTimeLimit = (seconds * 1000) / ALL.length
    const outcome = await fc.check(holds, {
      seed,
      numRuns: 200,
      interruptAfterTimeLimit,
      markInterruptAsFailure: false,
    })
    expect(outcome.failed ? `${String(outcome.errorInstance)}\n${fc.defaultReportMessage(outcome)}` : 'holds').toBe(
      'holds',
    )
  })

  test('asks for a key, and names the methods of its path', async () => {
    const path = operation.path.replaceAll(/\{\w+\}/g, 'x')
    const body = operation.requestBody ? {} : undefined
    const wrongKey = service === 'platform-api' ? { 'x-api-key': 'wrong' } : { authorization: 'Bearer wrong' }
    for (const key of [{}, wrongKey]) {
      const refused = await send(service, operation.method, { path, body }, key)
      // So many failures from one address are limited in the end.
      const isLimited = refused.status === 429 && refused.headers.has('retry-after')
      expect(isLimited || (refused.status === 401 && refused.headers.has('www-authenticate'))).toBe(true)
    }
    for (const method of undeclaredMethods(DOCUMENTS[service], operation.path)) {
      const answer = await send(service, method, { path, body: undefined })
      // The path of one operation may match the pattern of another one.
      if (answer.status !== 405) continue
      expect(answer.headers.get('allow')).toContain(operation.method.toUpperCase())
    }
  })
})
