import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { ApiError } from '@keelson/service-kit'
import { describe, expect, test } from 'vitest'
import { keyDigest } from '../agent-api-keys/secret-value.ts'
import { indexKeys } from './key-index.ts'
import type { WebhookKey } from './keyring.ts'
import type { Presented } from './presented.ts'
import { verifyRequest, type UnverifiedRequest } from './verify-request.ts'
import { signStandardWebhook } from './verify-standard-webhook.ts'

const NOW = 1_800_000_000
const secretOf = (text: string | Buffer) => createSecretKey(Buffer.from(text as string))

const keyOf = (given: Partial<WebhookKey>): WebhookKey => ({
  account_id: 'acct_1',
  agent_id: 'agent_1',
  acp_url: 'http://agent.example',
  key_id: 'key_1',
  name: 'octocat/hello-world',
  source: 'github',
  verification: null,
  delivery: 'sync',
  is_disabled: false,
  bound: ['hooks'],
  secret: secretOf('secret'),
  signingSecret: secretOf('signing'),
  ...given,
})

const hex = (secret: KeyObject, body: Buffer, prefix = '') =>
  createHmac('sha256', secret).update(prefix).update(body).digest('hex')
const github = (secret: KeyObject, body: Buffer): Presented => ({
  scheme: 'github',
  signature: `sha256=${hex(secret, body)}`,
})
const slack = (secret: KeyObject, body: Buffer): Presented => ({
  scheme: 'slack',
  timestamp: `${NOW}`,
  signature: `v0=${hex(secret, body, `v0:${NOW}:`)}`,
})
const standard = (secret: KeyObject, body: Buffer): Presented => ({
  scheme: 'standard_webhooks',
  ...signStandardWebhook(secret, { id: 'msg_1', body, nowSeconds: NOW }),
})

const bodyOf = (payload: object) => Buffer.from(JSON.stringify(payload))
const PUSH = bodyOf({ repository: { full_name: 'octocat/hello-world' } })

const verify = (keys: WebhookKey[], presented: Presented, given: Partial<UnverifiedRequest> = {}) =>
  verifyRequest({
    keys: indexKeys(keys),
    presented,
    segments: ['hooks'],
    body: PUSH,
    contentType: 'application/json',
    nowSeconds: NOW,
    ...given,
  })

describe('a key is found', () => {
  const secret = secretOf('secret')

  test.each([
    ['the repository', { repository: { full_name: 'octocat/hello-world' } }, 'octocat/hello-world'],
    ['the repository, in whatever case', { repository: { full_name: 'Octocat/Hello-World' } }, 'octoCAT/hello-world'],
    ['the organization', { organization: { login: 'octocat' } }, 'octocat'],
  ])('for %s that GitHub names', (_, payload, name) => {
    const body = bodyOf(payload)
    const key = keyOf({ name })
    expect(verify([key], github(secret, body), { body })).toEqual({ key, payload })
  })

  test.each([
    ['of another repository', { repository: { full_name: 'octocat/other' } }],
    ['of another organization', { organization: { login: 'octocat' } }],
    ['that names nothing', { repository: { name: 'octocat/hello-world' }, organization: 'octocat/hello-world' }],
  ])('for no body %s', (_, payload) => {
    const body = bodyOf(payload)
    expect(verify([keyOf({})], github(secret, body), { body })).toBeNull()
  })

  test.each([
    ['the app', { api_app_id: 'A1' }, true],
    ['another app', { api_app_id: 'A2' }, false],
    ['a challenge, which names no app', { type: 'url_verification' }, true],
    ['no app', { type: 'event_callback' }, false],
  ])('for %s that Slack names, or not', (_, payload, isFound) => {
    const body = bodyOf(payload)
    const key = keyOf({ source: 'slack', name: 'A1' })
    expect(verify([key], slack(secret, body), { body })).toEqual(isFound ? { key, payload } : null)
  })

  test('for whoever else signs as Standard Webhooks has it, whatever the body is', () => {
    const key = keyOf({ source: 'external', verification: 'standard_webhooks' })
    const body = Buffer.of(0xff, 0)
    expect(verify([key], standard(secret, body), { body })).toEqual({ key, payload: null })
    expect(verify([key], standard(secretOf('other'), body), { body })).toBeNull()
  })

  test('for an agent key, by its digest', () => {
    const key = keyOf({ source: 'external', verification: 'key', secret: secretOf(keyDigest('agent-key')) })
    expect(verify([key], { scheme: 'key', key: 'agent-key' })).toEqual({ key, payload: null })
    expect(verify([key], { scheme: 'key', key: 'agent-kez' })).toBeNull()
    const short = { ...key, secret: secretOf('short') }
    expect(verify([short], { scheme: 'key', key: 'agent-key' })).toBeNull()
  })
})

describe('a key proves nothing', () => {
  const secret = secretOf('secret')

  test('beyond the path it is bound to', () => {
    const at = (segments: string[]) => verify([keyOf({})], github(secret, PUSH), { segments })
    expect([at(['hooks']), at(['hooks', 'below']), at(['other']), at([])].map(Boolean)).toEqual([
      true,
      true,
      false,
      false,
    ])
  })

  test('by the scheme of another source', () => {
    const external = { source: 'external', secret: secretOf(keyDigest('agent-key')) } as const
    const keys = [
      keyOf({}),
      keyOf({ source: 'slack', name: 'octocat/hello-world' }),
      keyOf({ ...external, verification: 'key' }),
      keyOf({ ...external, verification: 'standard_webhooks' }),
    ]
    const proofs = (key: WebhookKey): Presented[] => [
      github(key.secret, PUSH),
      slack(key.secret, PUSH),
      { scheme: 'key', key: 'agent-key' },
      standard(key.secret, PUSH),
    ]
    const body = bodyOf({ repository: { full_name: 'octocat/hello-world' }, api_app_id: 'octocat/hello-world' })
    const found = keys.map((key) => proofs(key).map((presented) => verify([key], presented) !== null))
    const own = keys.map((key, index) =>
      verify(
        [key],
        [github, slack, () => ({ scheme: 'key', key: 'agent-key' }) as Presented, standard][index]!(key.secret, body),
        {
          body,
        },
      ),
    )
    expect(own.map((one) => one?.key)).toEqual(keys)
    for (const [index, row] of found.entries()) expect(row.filter((_, other) => other !== index)).not.toContain(true)
  })

  test('when there is none, whatever is presented', () => {
    const proofs = [github, slack, standard].map((sign) => sign(secretOf(Buffer.alloc(32)), PUSH))
    for (const presented of proofs) expect(verify([], presented)).toBeNull()
    expect(verify([], { scheme: 'key', key: 'agent-key' })).toBeNull()
  })

  test('over a body that cannot be read, and that is said only to whoever signed it', () => {
    const body = Buffer.from('[1]')
    expect(() => verify([keyOf({})], github(secret, body), { body })).toThrow(ApiError)
    expect(verify([keyOf({})], github(secretOf('other'), body), { body })).toBeNull()
  })
})

describe('among many keys', () => {
  const keys = Array.from({ length: 20 }, (_, index) =>
    keyOf({ key_id: `key_${index}`, name: `octocat/repository-${index}`, secret: secretOf(`secret ${index}`) }),
  )
  const slackKeys = keys.map((key, index) => ({ ...key, source: 'slack' as const, name: `A${index}` }))

  test('the one that the body names is found', () => {
    for (const key of keys) {
      const body = bodyOf({ repository: { full_name: key.name.toUpperCase() } })
      expect(verify(keys, github(key.secret, body), { body })?.key).toBe(key)
    }
  })

  test('both secrets of a name that is being rotated prove it', () => {
    const next = { ...keys[0]!, key_id: 'next', secret: secretOf('next') }
    const body = bodyOf({ repository: { full_name: next.name } })
    for (const key of [keys[0]!, next])
      expect(verify([...keys, next], github(key.secret, body), { body })?.key.key_id).toBe(key.key_id)
  })

  test('one secret may serve repository and organization; the body tells which is meant', () => {
    const alike = [keyOf({ name: 'octocat/other' }), keyOf({ name: 'octocat' })]
    const body = bodyOf({ fork: { full_name: 'octocat/other' }, organization: { login: 'octocat' } })
    expect(verify(alike, github(secretOf('secret'), body), { body })?.key).toBe(alike[1])
  })

  test("Slack's challenge, which names no app, is tried with all of them", () => {
    const body = bodyOf({ type: 'url_verification', challenge: 'c' })
    for (const key of slackKeys) expect(verify(slackKeys, slack(key.secret, body), { body })?.key).toBe(key)
  })

  test('a long body that names no app is tried with four, and with more while 64 MiB are enough', () => {
    const tried = (bytes: number) => {
      const body = bodyOf({ type: 'url_verification', text: 'x'.repeat(bytes) })
      return (index: number) => verify(slackKeys, slack(slackKeys[index]!.secret, body), { body }) !== null
    }
    const MIB = 1024 * 1024
    expect([3, 4].map(tried(20 * MIB))).toEqual([true, false])
    expect([5, 6, 7].map(tried(10 * MIB))).toEqual([true, false, false])
  })
})
