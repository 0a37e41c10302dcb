import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AGENT_CASES, PLATFORM_CASES, type BadInput } from './bad-input-cases.ts'
import { CONNECTION_CASES } from './bad-input-connections.ts'
import { sendRaw } from './raw-http.ts'
import { runningServices, type RunningServices } from './running-services.ts'

let services: RunningServices

beforeAll(async () => {
  services = await runningServices(['platform-api', 'agent-api'])
})

afterAll(async () => await services?.[Symbol.asyncDispose]())

const LEAKS = /SELECT |postgres|PostgresError|\bat \S+ \(|node_modules|ZodError|\.ts:\d/

const send = async (service: 'platform-api' | 'agent-api', { method = 'GET', path, headers, body }: BadInput) => {
  const key: Record<string, string> =
    service === 'platform-api' ? { 'x-api-key': services.key } : { authorization: `Bearer ${services.key}` }
  const json: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
  const given = Object.entries(headers ?? {}).map(([name, value]) => [
    name,
    value.replace('OTHER_KEY', services.otherKey),
  ])
  const all = Object.entries({ ...key, ...json, ...Object.fromEntries(given) }).filter(([, value]) => value !== '')
  return await sendRaw(services.url[service], { method, path, headers: all as [string, string][], body })
}

const AS_DECIDED = 'as decided'

const check = async (service: 'platform-api' | 'agent-api', bad: BadInput) => {
  const answer = await send(service, bad)
  expect({ status: answer.status, code: answer.code, text: answer.text }).toEqual({
    status: bad.status,
    code: bad.code ?? answer.code,
    text: answer.text,
  })
  expect(answer.text).not.toMatch(LEAKS)
  if (answer.status < 400) return AS_DECIDED
  expect(answer.headers['content-type']).toContain('application/problem+json')
  expect(answer.headers['x-request-id']).toBeTruthy()
  if (answer.status === 401) expect(answer.headers['www-authenticate']).toBeTruthy()
  for (const [name, value] of Object.entries(bad.answerHeaders ?? {})) expect(answer.headers[name]).toBe(value)
  return AS_DECIDED
}

describe('platform-api', () => {
  test.each(PLATFORM_CASES.map((one) => [one.row, one.name, one.status, one] as const))(
    'row %s: %s is answered with %i',
    async (_row, _name, _status, bad) => expect(await check('platform-api', bad)).toBe(AS_DECIDED),
  )
})

describe('agent-api', () => {
  test.each(AGENT_CASES.map((one) => [one.row, one.name, one.status, one] as const))(
    'row %s: %s is answered with %i',
    async (_row, _name, _status, bad) => expect(await check('agent-api', bad)).toBe(AS_DECIDED),
  )
})

describe.each(['platform-api', 'agent-api'] as const)('%s, below HTTP', (service) => {
  test.each(CONNECTION_CASES.map((one) => [one.row, one.name, one] as const))(
    'row %s: %s',
    async (_row, _name, bad) => {
      const answer = await sendRaw(services.url[service], { raw: bad.bytes })
      expect(bad.statuses).toContain(answer.status)
      expect(answer.text).not.toMatch(LEAKS)
    },
  )

  test('after all of it the service still answers, and has thrown nothing', async () => {
    expect((await fetch(`${services.url[service]}/readyz`)).status).toBe(200)
    const metrics = await (await fetch(`${services.metricsUrl[service]}/metrics`)).text()
    expect(metrics).not.toMatch(/http_request_duration_seconds_count\{[^}]*status="500"/)
  })
})
