import { eventually } from '@keelson/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AGENT_CASES, PLATFORM_CASES } from './bad-input-cases.ts'
import { CONNECTION_CASES, slowCases } from './bad-input-connections.ts'
import { filledIn, knownObjects, layOutLongTrace } from './bad-input-objects.ts'
import { foreignStories, idempotencyStories, nameStories } from './bad-input-stories.ts'
import type { BadInput } from './bad-input-types.ts'
import { webhookCases } from './bad-input-webhooks.ts'
import { neverRead, sendRaw, sendSlowly } from './raw-http.ts'
import { runningServices, type RunningServices } from './running-services.ts'

const SERVICES = ['platform-api', 'agent-api'] as const
type ServiceName = (typeof SERVICES)[number]

/** Slow senders are cut off soon enough for a test. */
const TIMEOUTS = { HEADERS_TIMEOUT: '1s', REQUEST_TIMEOUT: '3s' }

let services: RunningServices
let known: Record<string, string>

beforeAll(async () => {
  services = await runningServices(SERVICES, { settings: TIMEOUTS })
  known = await knownObjects(services)
  await layOutLongTrace(services)
})

afterAll(async () => await services?.[Symbol.asyncDispose]())

/** More than a service has connections to its database. */
const LAZY_READERS = 15

const LEAKS = /SELECT |postgres|PostgresError|\bat \S+ \(|node_modules|ZodError|\.ts:\d/
const AS_DECIDED = 'as decided'

const keyOf = (service: ServiceName): [string, string] =>
  service === 'platform-api' ? ['x-api-key', services.key] : ['authorization', `Bearer ${services.key}`]

const send = async (service: ServiceName, { method = 'GET', path, headers = {}, body }: BadInput) => {
  const json: [string, string][] = body === undefined ? [] : [['content-type', 'application/json']]
  const all = Object.entries({ ...Object.fromEntries([keyOf(service), ...json]), ...headers })
  return await sendRaw(services.url[service], {
    method,
    path: filledIn(path, known),
    headers: all.filter(([, value]) => value !== ''),
    body: typeof body === 'string' ? filledIn(body, known) : body,
  })
}

const check = async (service: ServiceName, bad: BadInput) => {
  const { status, code, text, headers } = await send(service, bad)
  expect({ status, code, text }).toEqual({ status: bad.status, code: bad.code ?? code, text })
  expect(text).not.toMatch(LEAKS)
  for (const [name, value] of Object.entries(bad.answerHeaders ?? {})) expect(headers[name]).toBe(value)
  if (bad.holds !== undefined) expect(text).toContain(bad.holds)
  if (status < 400) return AS_DECIDED
  expect(headers['content-type']).toContain('application/problem+json')
  expect(headers['x-request-id']).toBeTruthy()
  if (status === 401) expect(headers['www-authenticate']).toBeTruthy()
  return AS_DECIDED
}

const TABLES = { 'platform-api': PLATFORM_CASES, 'agent-api': [...AGENT_CASES, ...webhookCases()] }
const world = () => ({ services, known })

describe.each(SERVICES)('%s', (service) => {
  test.each(TABLES[service].map((one) => [one.row, one.name, one.status, one] as const))(
    'row %s: %s is answered with %i',
    async (_row, _name, _status, bad) => expect(await check(service, bad)).toBe(AS_DECIDED),
  )

  foreignStories(service, world)
  idempotencyStories(service, world)

  test.each(CONNECTION_CASES.map((one) => [one.row, one.name, one] as const))(
    'row %s: %s',
    async (_row, _name, bad) => {
      const answer = await sendRaw(services.url[service], { raw: bad.bytes })
      expect(bad.statuses).toContain(answer.status)
      expect(answer.text).not.toMatch(LEAKS)
    },
  )

  test('row 88: senders that are silent or slow are told 408 and cut off', async () => {
    const post = service === 'platform-api' ? '/v5/credentials' : '/spans'
    const slow = slowCases(post, keyOf(service).join(': '))
    const statuses = await Promise.all(slow.map(({ first, drip }) => sendSlowly(services.url[service], first, drip)))
    expect(statuses).toEqual([408, 408, 408])
  })

  test('row 93: 2,000 pipelined requests are answered one after the other', async () => {
    const one = 'GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n'
    const last = 'GET /healthz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'
    const { text } = await sendRaw(services.url[service], { raw: one.repeat(1999) + last }, { wholeConnection: true })
    expect(text.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2000)
  })
})

test('row 88: who reads nothing of a long answer holds no connection to the database, and is cut off', async () => {
  const url = services.url['agent-api']
  const lazy = Array.from({ length: LAZY_READERS }, () => neverRead(url, '/spans?trace_id=long', keyOf('agent-api')))
  // Making so many long answers at once takes a moment, in which others may be asked to come back.
  await eventually(async () => {
    const short = { row: 88, name: 'others', path: '/agents', status: 200 }
    const others = await Promise.all(Array.from({ length: LAZY_READERS }, () => send('agent-api', short)))
    expect(others.filter(({ status }) => status !== 200)).toEqual([])
  })
  await Promise.all(lazy)
})

describe('names', () => {
  nameStories(world)
})

describe.each(SERVICES)('%s, after all of it', (service) => {
  test('still answers, and has thrown nothing', async () => {
    expect((await fetch(`${services.url[service]}/readyz`)).status).toBe(200)
    const metrics = await (await fetch(`${services.metricsUrl[service]}/metrics`)).text()
    expect(metrics).not.toMatch(/http_request_duration_seconds_count\{[^}]*status="500"/)
  })
})

/** Rows whose promise is a sequence of requests, told in bad-input-stories.ts or above. */
const STORIES = [38, 41, 48, 88, 93, 112]

test('every row of the catalogue is asked', () => {
  const asked = [...PLATFORM_CASES, ...TABLES['agent-api'], ...CONNECTION_CASES].map(({ row }) => row)
  const rows = Array.from({ length: 112 }, (_, index) => index + 1)
  expect(rows.filter((row) => !asked.includes(row) && !STORIES.includes(row))).toEqual([])
})
