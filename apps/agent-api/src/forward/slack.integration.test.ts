import { afterAll, describe, expect, test } from 'vitest'
import { testIngress } from './ingress.fixture.ts'
import { slackHeaders } from './signed.fixture.ts'

const ingress = await testIngress()
afterAll(() => ingress[Symbol.asyncDispose]())
const { agent, scene, last, shape } = ingress

const SLACK = 'slack-signing-secret-1'

describe('Slack', () => {
  const slackScene = async () => {
    const one = await scene()
    await one.trigger('A0123', { source: 'slack', secret: SLACK })
    return one
  }
  const EVENT = JSON.stringify({ type: 'event_callback', api_app_id: 'A0123', event_id: 'Ev1' })
  const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString()
  const FORM = 'application/x-www-form-urlencoded'

  test('events, interactions and slash commands of the app reach the agent', async () => {
    const { send } = await slackScene()
    expect((await send('hooks', slackHeaders(SLACK, EVENT), EVENT)).status).toBe(200)
    expect(last().headers).toHaveProperty('x-slack-request-timestamp')
    expect(last().headers).not.toHaveProperty('x-slack-signature')
    const click = EVENT.replace('Ev1', 'Ev2')
    for (const body of [form({ payload: click }), form({ command: '/go', api_app_id: 'A0123' })]) {
      expect((await send('hooks', slackHeaders(SLACK, body, { type: FORM }), body)).status).toBe(200)
      expect(last().body.toString()).toBe(body)
    }
  })

  test('an event that the agent accepted is answered and not forwarded again; a failed one is', async () => {
    const { send } = await slackScene()
    const ask = async () => (await send('hooks', slackHeaders(SLACK, EVENT), EVENT)).status
    const before = agent.received.length
    agent.answer = (_request, response) => void response.writeHead(500).end()
    expect(await ask()).toBe(500)
    agent.answer = (_request, response) => void response.end('ok')
    expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 200])
    expect(agent.received.length - before).toBe(2)
  })

  test('another app, secret or time is one 401', async () => {
    const { send } = await slackScene()
    const other = EVENT.replace('A0123', 'A9999')
    const now = Date.now() / 1000
    const refused = [
      send('hooks', slackHeaders(SLACK, other), other),
      send('hooks', slackHeaders('another-secret-of-16', EVENT), EVENT),
      send('hooks', slackHeaders(SLACK, EVENT, { at: now - 600 }), EVENT),
      send('hooks', slackHeaders(SLACK, EVENT, { at: now + 600 }), EVENT),
      send('hooks', { ...slackHeaders(SLACK, EVENT), 'x-slack-request-timestamp': 'soon' }, EVENT),
    ]
    const shapes = await Promise.all((await Promise.all(refused)).map(shape))
    for (const one of shapes) expect(one).toEqual(shapes[0])
    expect(shapes[0]!.status).toBe(401)
  })

  test('a challenge is answered when it is signed, and only then; the agent never sees it', async () => {
    const { send } = await slackScene()
    const body = JSON.stringify({ type: 'url_verification', challenge: 'prove-it' })
    const before = agent.received.length
    const answer = await send('hooks', slackHeaders(SLACK, body), body)
    expect([answer.status, await answer.text()]).toEqual([200, 'prove-it'])
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain/)
    for (const headers of [
      slackHeaders('another-secret-of-16', body),
      { 'x-slack-request-timestamp': '1', 'x-slack-signature': 'v0=0' },
    ]) {
      const refused = await send('hooks', headers, body)
      expect([refused.status, (await refused.text()).includes('prove-it')]).toEqual([401, false])
    }
    const long = JSON.stringify({ type: 'url_verification', challenge: 'x'.repeat(257) })
    expect((await send('hooks', slackHeaders(SLACK, long), long)).status).toBe(400)
    expect(agent.received).toHaveLength(before)
  })

  test('the check of the certificate is answered, whoever asks, and nothing is forwarded', async () => {
    const { send } = await slackScene()
    const before = agent.received.length
    const answer = await send('hooks', { 'content-type': FORM }, form({ ssl_check: '1', token: 'x', payload: EVENT }))
    expect([answer.status, await answer.text()]).toEqual([200, ''])
    expect((await send('hooks', { 'content-type': FORM }, form({ command: '/go' }))).status).toBe(401)
    expect(agent.received).toHaveLength(before)
  })
})
