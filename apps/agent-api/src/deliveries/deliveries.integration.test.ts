import { connectQueue } from '@keelson/queue'
import { eventually } from '@keelson/testing'
import { afterAll, expect, test } from 'vitest'
import { testIngress } from '../forward/ingress.fixture.ts'
import { githubHeaders, PUSH, slackHeaders } from '../forward/signed.fixture.ts'
import { startDeliveryWorker } from './worker.ts'

const ingress = await testIngress()
const { app, agent, scene, last } = ingress
const queue = await connectQueue({ databaseUrl: app.url })
const startWorker = () =>
  startDeliveryWorker({ ...app, queue, attemptMs: 2_000, claimMs: 3_000, sweepMs: 100, concurrency: 8 })
let worker = startWorker()
afterAll(async () => {
  await worker[Symbol.asyncDispose]()
  await queue[Symbol.asyncDispose]()
  await ingress[Symbol.asyncDispose]()
})

const OK: typeof agent.answer = (_request, response) => void response.end('ok')
const answerWith =
  (status: number): typeof agent.answer =>
  (_request, response) => {
    response.statusCode = status
    response.end()
  }

const durable = async () => {
  const one = await scene()
  const { secret, key_id } = await one.trigger('octocat/hello-world', { delivery: 'durable' })
  const push = (delivery?: string, content = PUSH) =>
    one.send('hooks?x=1', githubHeaders(secret, content, delivery), content)
  const log = () => one.client.listDeliveries({ query: { key_id } })
  const wakeUp = () => app.db.sql`
    update agent.webhook_deliveries set next_attempt_at = now() where key_id = ${key_id} and status = 'pending'`
  const become = (status: string) => eventually(async () => expect((await log())[0]).toMatchObject({ status }))
  return { ...one, secret, key_id, push, log, wakeUp, become }
}

test('an event is committed, answered 202 and delivered as it came, with its own id and our signature', async () => {
  const { push, log, become, client } = await durable()
  const answer = await push('delivery-1')
  expect([answer.status, await answer.text()]).toEqual([202, ''])
  await become('delivered')
  const [record] = await log()
  expect(record).toMatchObject({
    id: answer.headers.get('x-keelson-delivery-id'),
    source_delivery_id: 'delivery-1',
    path: 'hooks',
    attempts: 1,
    last_status: 200,
    last_error: null,
    body_bytes: Buffer.byteLength(PUSH),
  })
  expect(last()).toMatchObject({
    method: 'POST',
    url: '/base/hooks?x=1',
    headers: { 'webhook-id': record!.id, 'x-keelson-attempt': '1', 'x-github-delivery': 'delivery-1' },
  })
  expect(last().body.toString()).toBe(PUSH)
  expect(await client.getDelivery({ params: { delivery_id: record!.id } })).toEqual(record)
})

test('what is not proved is not kept', async () => {
  const { send, log } = await durable()
  expect((await send('hooks', githubHeaders('another-secret-of-16', PUSH), PUSH)).status).toBe(401)
  expect(await log()).toEqual([])
})

test('an agent that fails is tried again, with the attempt counted, until it accepts', async () => {
  const { push, log, wakeUp, become } = await durable()
  agent.answer = answerWith(503)
  await push()
  await eventually(async () => expect((await log())[0]).toMatchObject({ last_status: 503 }))
  expect((await log())[0]).toMatchObject({ status: 'pending', attempts: 1, last_error: 'the agent answered 503' })
  agent.answer = OK
  await wakeUp()
  await become('delivered')
  expect((await log())[0]).toMatchObject({ attempts: 2, last_error: null })
  expect(last().headers['x-keelson-attempt']).toBe('2')
})

test('an event is kept once: delivered it is not delivered again, failed it is', async () => {
  const { push, log, become } = await durable()
  await push('same')
  await become('delivered')
  const before = agent.received.length
  expect((await push('same')).status).toBe(202)
  agent.answer = answerWith(500)
  await push('failing')
  await eventually(async () => expect((await log())[0]).toMatchObject({ last_status: 500 }))
  agent.answer = OK
  expect((await push('failing')).status).toBe(202)
  await become('delivered')
  expect((await log()).map(({ source_delivery_id, attempts }) => [source_delivery_id, attempts])).toEqual([
    ['failing', 2],
    ['same', 1],
  ])
  expect(agent.received.length - before).toBe(2)
})

test('after the last attempt it is dead, and a replay of one or of a range delivers it', async () => {
  const { push, log, become, client, key_id } = await durable()
  agent.answer = answerWith(410)
  for (const delivery of ['one', 'two']) await push(delivery)
  await eventually(async () => expect((await log()).map(({ last_status }) => last_status)).toEqual([410, 410]))
  await app.db.sql`update agent.webhook_deliveries set failures = 7, next_attempt_at = now() where key_id = ${key_id}`
  await eventually(async () => expect((await log()).map(({ status }) => status)).toEqual(['dead', 'dead']))
  agent.answer = OK
  const [{ id: delivery_id } = { id: '' }] = await log()
  expect(await client.replayDelivery({ params: { delivery_id } })).toMatchObject({ status: 'pending' })
  await become('delivered')
  const range = { key_id, received_from: '2020-01-01T00:00:00Z', received_before: '2100-01-01T00:00:00Z' }
  expect(await client.replayDeliveries({ body: { ...range, status: 'dead' } })).toEqual({ replayed: 1 })
  await eventually(async () => expect((await log()).map(({ status }) => status)).toEqual(['delivered', 'delivered']))
  await expect(client.replayDeliveries({ body: { ...range, key_id: 'none' } })).rejects.toMatchObject({ status: 404 })
})

test('days of failure switch a key off; what then arrives is kept, and a replay that works switches it on', async () => {
  const { push, log, wakeUp, become, client, key_id } = await durable()
  const key = () => client.getAgentApiKey({ params: { key_id } })
  agent.answer = answerWith(500)
  await push('first')
  await eventually(async () => expect((await log())[0]).toMatchObject({ last_status: 500 }))
  expect(await key()).toMatchObject({ disabled_at: null })
  await app.db.sql`update agent.agent_api_keys set failing_since = now() - interval '6 days' where id = ${key_id}`
  await wakeUp()
  await eventually(async () => expect((await key()).disabled_at).not.toBeNull())
  app.keyring.forget((await log())[0]!.agent_name)
  expect((await push('first')).status).toBe(202)
  expect((await log())[0]).toMatchObject({ source_delivery_id: 'first', status: 'pending' })
  expect((await push('second')).status).toBe(202)
  expect((await log())[0]).toMatchObject({ status: 'dead', attempts: 0, last_error: 'deliveries of this key are off' })
  agent.answer = OK
  await client.replayDelivery({ params: { delivery_id: (await log())[0]!.id } })
  await become('delivered')
  expect(await key()).toMatchObject({ disabled_at: null })
})

test('a worker that died leaves its delivery to another, marked as the next attempt', async () => {
  const { push, log, become, key_id } = await durable()
  await worker[Symbol.asyncDispose]()
  await push()
  // What a killed worker leaves behind: a claim that nobody will settle.
  await app.db.sql`
    update agent.webhook_deliveries set attempts = 1, claimed_until = now() + interval '300 milliseconds',
      next_attempt_at = now() + interval '300 milliseconds' where key_id = ${key_id}`
  worker = startWorker()
  await become('delivered')
  expect((await log())[0]).toMatchObject({ attempts: 2 })
})

test('slash commands and clicks wait for the agent even where events are durable', async () => {
  const { send, trigger, client } = await scene()
  const secret = 'slack-signing-secret-1'
  const { key_id } = await trigger('A1', { source: 'slack', secret, delivery: 'durable' })
  const event = JSON.stringify({ type: 'event_callback', api_app_id: 'A1', event_id: 'Ev7' })
  expect((await send('hooks', slackHeaders(secret, event), event)).status).toBe(202)
  const command = new URLSearchParams({ command: '/go', api_app_id: 'A1' }).toString()
  const headers = slackHeaders(secret, command, { type: 'application/x-www-form-urlencoded' })
  const answer = await send('hooks', headers, command)
  expect([answer.status, await answer.text()]).toEqual([200, 'ok'])
  expect((await client.listDeliveries({ query: { key_id } })).map((one) => one.source_delivery_id)).toEqual(['Ev7'])
})

test('an account sees and replays no delivery of another', async () => {
  const { push, log, become, key_id } = await durable()
  await push()
  await become('delivered')
  const [{ id: delivery_id } = { id: '' }] = await log()
  const stranger = await app.client()
  expect(await stranger.listDeliveries({ query: { key_id } })).toEqual([])
  await expect(stranger.getDelivery({ params: { delivery_id } })).rejects.toMatchObject({ status: 404 })
  await expect(stranger.replayDelivery({ params: { delivery_id } })).rejects.toMatchObject({ status: 404 })
  await expect(stranger.listDeliveries({ query: { starting_after: delivery_id } })).rejects.toMatchObject({
    status: 422,
  })
  expect(await log()).toHaveLength(1)
})

test('an agent that is deleted gets nothing more', async () => {
  const { push, log, client } = await durable()
  agent.answer = answerWith(500)
  await push()
  await eventually(async () => expect((await log())[0]).toMatchObject({ last_status: 500 }))
  const [{ agent_id, id: delivery_id } = { agent_id: '', id: '' }] = await log()
  await client.deleteAgent({ params: { agent_id } })
  expect(await client.getDelivery({ params: { delivery_id } })).toMatchObject({
    status: 'dead',
    last_error: 'the agent was deleted',
  })
  agent.answer = OK
})
