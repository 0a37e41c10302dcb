import { eventually } from '@keelson/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { clientsOf } from './bad-input-objects.ts'
import { recordedHttp } from './recorded-http.ts'
import { runningServices, type RunningServices } from './running-services.ts'

type Span = { traceId: string; spanId: string; parentSpanId: string; name: string; kind: number }
type Exported = {
  resourceSpans: { resource: { attributes: { value: { stringValue: string } }[] }; scopeSpans: { spans: Span[] }[] }[]
}

const SECRET = 'a-secret-that-no-span-may-tell'
const TRACE = '0af7651916cd43dd8448eb211c80319c'
const OTHER_TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const CALLER = 'b7ad6b7169203331'
const contextOf = (traceId: string) => ({ traceparent: `00-${traceId}-${CALLER}-01` })

const stack = new AsyncDisposableStack()
let services: RunningServices
let collector: Awaited<ReturnType<typeof recordedHttp>>
let vendor: Awaited<ReturnType<typeof recordedHttp>>
let agent: Awaited<ReturnType<typeof recordedHttp>>

beforeAll(async () => {
  collector = stack.use(await recordedHttp(200))
  vendor = stack.use(await recordedHttp(500))
  agent = stack.use(await recordedHttp(200))
  services = stack.use(
    await runningServices(['platform-api', 'agent-api', 'deployer', 'webhook-worker'], {
      settings: {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_HEADERS: 'x-collector=theirs',
        LLM_ENGINE_URL: vendor.url,
      },
    }),
  )
})
afterAll(() => stack.disposeAsync())

/** Every span of a trace that has been told so far, with the service that told it. */
const toldOf = (traceId: string): (Span & { service: string })[] =>
  collector.requests
    .flatMap(({ body }) => (JSON.parse(body) as Exported).resourceSpans)
    .flatMap(({ resource, scopeSpans }) => {
      const service = resource.attributes[0]?.value.stringValue ?? ''
      return scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ ...span, service })))
    })
    .filter((span) => span.traceId === traceId)

const spanIdOf = (traceparent: unknown) => String(traceparent).split('-')[2]

test('one trace leads from the request through the queue to the call of the vendor', async () => {
  const { platform } = clientsOf(services, services.key)
  await platform.createModel({
    body: { name: 'traced', vendor_configuration: { model: 'llama-3-8b', gpus: 1, checkpoint_path: `s3://${SECRET}` } },
    headers: contextOf(TRACE),
  })
  await eventually(() => {
    const told = toldOf(TRACE)
    const request = told.find(({ name }) => name === 'POST /v5/models')
    expect(request).toMatchObject({ service: 'platform-api', kind: 2, parentSpanId: CALLER })
    const step = told.find(({ name }) => name === 'advance_deployment')
    expect(step).toMatchObject({ service: 'deployer', kind: 5, parentSpanId: request?.spanId })
    const [call] = told.filter(({ kind }) => kind === 3)
    expect(call).toMatchObject({ service: 'deployer', parentSpanId: request?.spanId })
    const heard = vendor.requests.map(({ headers }) => spanIdOf(headers['traceparent']))
    expect(heard).toContain(call?.spanId)
  })
})

test.each(['sync', 'durable'] as const)('a %s webhook takes its trace along to the agent', async (delivery) => {
  const client = clientsOf(services, services.key).agent
  const name = `traced-${delivery}`
  await client.registerAgent({ body: { name, description: '', acp_url: agent.url, acp_type: 'sync' } })
  const key = await client.createAgentApiKey({ body: { agent_name: name, name: 'ci', delivery, api_key: SECRET } })
  await fetch(`${services.url['agent-api']}/agents/forward/name/${name}/hook`, {
    method: 'POST',
    headers: { 'x-agent-api-key': key.api_key, ...contextOf(OTHER_TRACE), 'x-request-id': name },
    body: SECRET,
  })
  await eventually(() => {
    const teller = delivery === 'sync' ? 'agent-api' : 'webhook-worker'
    const calls = toldOf(OTHER_TRACE).filter(({ kind, service }) => kind === 3 && service === teller)
    const heard = agent.requests.map(({ headers }) => spanIdOf(headers['traceparent']))
    expect(calls.length).toBeGreaterThan(0)
    expect(heard).toEqual(expect.arrayContaining(calls.map(({ spanId }) => spanId)))
  })
})

test('the receiver is sent what it asks for, and no secret', () => {
  expect(
    collector.requests.every(({ url, headers }) => url === '/v1/traces' && headers['x-collector'] === 'theirs'),
  ).toBe(true)
  const told = collector.requests.map(({ body }) => body).join('\n')
  for (const secret of [SECRET, services.key, services.otherKey]) expect(told).not.toContain(secret)
})
