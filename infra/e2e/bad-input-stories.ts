import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { clientsOf } from './bad-input-objects.ts'
import { PUSH, signed } from './bad-input-webhooks.ts'
import type { RunningServices } from './running-services.ts'

type World = () => { services: RunningServices; known: Record<string, string> }
type ServiceName = 'platform-api' | 'agent-api'

const keyHeader = (service: ServiceName, key: string): Record<string, string> =>
  service === 'platform-api' ? { 'x-api-key': key } : { authorization: `Bearer ${key}` }

const CREATES = {
  'platform-api': {
    path: '/v5/credentials',
    body: (name: string) => ({ name, type: 'key', payload: 'p' }),
  },
  'agent-api': {
    path: '/spans',
    body: (name: string) => ({ trace_id: 'once', name, start_time: '2026-01-01T00:00:00Z' }),
  },
}

const statusesOf = (answers: { status: number }[]) => answers.map(({ status }) => status).toSorted((a, b) => a - b)
const oneOf = (count: number, others: number) => [200, ...Array.from({ length: count - 1 }, () => others)]

/** Row 97: what an `Idempotency-Key` promises. */
export const idempotencyStories = (service: ServiceName, world: World) => {
  const send = (key: string, name: string, token: string) => {
    const { services } = world()
    const { path, body } = CREATES[service]
    const headers = { ...keyHeader(service, token), 'content-type': 'application/json', 'idempotency-key': key }
    return fetch(services.url[service] + path, { method: 'POST', headers, body: JSON.stringify(body(name)) })
  }

  test('row 97: a key is good for one request, in whatever order repetitions come', async () => {
    const { services } = world()
    const [key, name] = [randomUUID(), randomUUID()]
    const together = await Promise.all(Array.from({ length: 20 }, () => send(key, name, services.key)))
    const statuses = statusesOf(together)
    expect(statuses.filter((status) => status !== 200 && status !== 409)).toEqual([])
    expect(statuses[0]).toBe(200)
    const replay = await send(key, name, services.key)
    expect([replay.status, replay.headers.get('idempotency-replayed')]).toEqual([200, 'true'])
    const bodies = await Promise.all(
      [...together.filter(({ status }) => status === 200), replay].map((one) => one.text()),
    )
    expect(new Set(bodies).size).toBe(1)
    const other = await send(key, `${name}-other`, services.key)
    expect([other.status, ((await other.json()) as { code: string }).code]).toEqual([422, 'idempotency_key_reused'])
  })

  test('row 97: the same key of another account is another key', async () => {
    const { services } = world()
    const [key, name] = [randomUUID(), randomUUID()]
    const [own, foreign] = [await send(key, name, services.key), await send(key, name, services.otherKey)]
    expect([own.status, foreign.status, foreign.headers.get('idempotency-replayed')]).toEqual([200, 200, null])
    expect(((await own.json()) as { id: string }).id).not.toBe(((await foreign.json()) as { id: string }).id)
  })
}

/** Row 48: what is another account's is answered like what is not there. */
export const foreignStories = (service: ServiceName, world: World) => {
  const paths: Record<ServiceName, [string, string][]> = {
    'platform-api': [
      ['GET', '/v5/credentials/$credential'],
      ['POST', '/v5/credentials/$credential/secret'],
      ['DELETE', '/v5/credentials/$credential'],
      ['GET', '/v5/models/$model'],
      ['DELETE', '/v5/models/$model'],
      ['GET', '/v5/models/$model/deployments'],
    ],
    'agent-api': [
      ['GET', '/spans/$span'],
      ['GET', '/agents/$agent'],
      ['DELETE', '/agents/$agent'],
      ['GET', '/agent_api_keys/$key'],
      ['DELETE', '/agent_api_keys/$key'],
    ],
  }
  test.each(paths[service])('row 48: %s %s of another account is missing, to the byte', async (method, path) => {
    const { services, known } = world()
    const answerTo = async (id: string) => {
      const response = await fetch(services.url[service] + path.replace(/\$\w+/, id), {
        method,
        headers: keyHeader(service, services.key),
      })
      const headers = [...response.headers].filter(([name]) => name !== 'x-request-id' && name !== 'date')
      return [response.status, headers, (await response.text()).replace(/"request_id":"[^"]+"/, '')]
    }
    const [, noun = ''] = /\$(\w+)/.exec(path) ?? []
    const foreign = known[`foreign_${noun}`]!
    const absent = foreign.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
    expect(await answerTo(foreign)).toEqual(await answerTo(absent))
    expect((await answerTo(foreign))[0]).toBe(404)
  })
}

/** Rows 38, 41, 112 and the repeated delivery of 111. */
export const nameStories = (world: World) => {
  test('row 41: a name may hold what means something in a URL, and is found by it', async () => {
    const { services } = world()
    const { platform } = clientsOf(services, services.key)
    for (const name of ['a/b', '100%', 'a?b', 'a#b', 'a b', '..', '%2e%2e', 'name', 'a+b', 'ü&=']) {
      const { id } = await platform.createCredential({ body: { name, type: 'key', payload: 'p' } })
      // Nobody can ask for `..` in a path: URLs lose it.
      if (name === '..') continue
      expect((await platform.getCredentialByName({ params: { credential_name: name } })).id).toBe(id)
    }
  })

  test('row 38: names are compared as they are written, composed or not', async () => {
    const { platform } = clientsOf(world().services, world().services.key)
    const create = (name: string) => platform.createCredential({ body: { name, type: 'key', payload: 'p' } })
    const [composed, decomposed] = [await create('caf\u00e9'), await create('cafe\u0301')]
    expect([composed.name, decomposed.name]).toEqual(['caf\u00e9', 'cafe\u0301'])
  })

  test('row 112: of 100 who create the same at once, one does', async () => {
    const { services } = world()
    const { platform, agent } = clientsOf(services, services.key)
    const outcome = (work: Promise<unknown>) =>
      work.then(
        () => ({ status: 200 }),
        (error: { status: number }) => error,
      )
    const hundred = (create: (index: number) => Promise<unknown>) =>
      Promise.all(Array.from({ length: 100 }, (_, index) => outcome(create(index))))
    const credential = { name: 'contested', type: 'key' as const, payload: 'p' }
    const model = { name: 'contested', model_vendor: 'openai' as const, model_type: 'completion' as const }
    const span = { id: 'contested', trace_id: 't', start_time: '2026-01-01T00:00:00Z' }
    const trigger = { agent_name: 'agent-first', name: 'octocat/contested', forward_path: 'x' }
    for (const create of [
      () => platform.createCredential({ body: credential }),
      () => platform.createModel({ body: model }),
      (index: number) => agent.createSpan({ body: { ...span, name: `n${index}` } }),
      () => agent.createWebhookTrigger({ body: trigger }),
    ]) {
      expect(statusesOf(await hundred(create))).toEqual(oneOf(100, 409))
    }
  })

  test('row 111: a delivery that comes again is kept once', async () => {
    const { services } = world()
    const { agent } = clientsOf(services, services.key)
    const body = PUSH.replace('hello-world', 'durable')
    const secret = 'a-secret-of-the-catalogue'
    const trigger = { agent_name: 'agent-first', name: 'octocat/durable', forward_path: 'durable', secret }
    await agent.createWebhookTrigger({ body: { ...trigger, delivery: 'durable' } })
    const { authorization: _none, ...headers } = signed(body, 'again')
    const url = `${services.url['agent-api']}/agents/forward/name/agent-first/durable`
    const answers = await Promise.all(Array.from({ length: 10 }, () => fetch(url, { method: 'POST', headers, body })))
    expect(new Set(statusesOf(answers))).toEqual(new Set([202]))
    const [counted] = await services.database.db.sql`select count(*)::int as n from agent.webhook_deliveries`
    expect(counted!['n']).toBe(1)
  })
}
