import { createHmac, createSecretKey } from 'node:crypto'
import { sign } from '@octokit/webhooks-methods'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { standardWebhookSecret } from '../agent-api-keys/secret-value.ts'
import { verifyGithub } from './verify-github.ts'
import { verifySlack } from './verify-slack.ts'
import { signStandardWebhook, verifyStandardWebhook } from './verify-standard-webhook.ts'

const keyOf = (secret: string | Buffer) => createSecretKey(Buffer.from(secret as string))

/** Every copy of some bytes with one bit of one byte changed. */
const changed = (bytes: Buffer) =>
  Array.from(bytes, (_, index) => {
    const copy = Buffer.from(bytes)
    copy[index]! ^= 1
    return copy
  })

describe('GitHub', () => {
  const secret = keyOf("It's a Secret to Everybody")
  const body = Buffer.from('Hello, World!')
  const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17'

  test('the published vector is accepted, and refused with any byte changed', () => {
    expect(verifyGithub(secret, body, signature)).toBe(true)
    for (const other of changed(body)) expect(verifyGithub(secret, other, signature)).toBe(false)
    for (const other of changed(secret.export()).map(keyOf)) expect(verifyGithub(other, body, signature)).toBe(false)
    for (const other of changed(Buffer.from(signature)))
      expect(verifyGithub(secret, body, other.toString())).toBe(false)
  })

  test('what octokit signs is accepted, also beyond ASCII, and refused with any byte changed', async () => {
    const payload = JSON.stringify({ text: 'grüße 👋\u2028', repository: { full_name: 'a/b' } })
    const signed = await sign('octokit-secret', payload)
    expect(verifyGithub(keyOf('octokit-secret'), Buffer.from(payload), signed)).toBe(true)
    for (const other of changed(Buffer.from(payload)))
      expect(verifyGithub(keyOf('octokit-secret'), other, signed)).toBe(false)
  })

  test.each([
    '',
    'sha256=',
    signature.slice(0, -1),
    signature.toUpperCase(),
    signature.replace('sha256', 'sha1'),
    `${signature}, ${signature}`,
    ` ${signature}`,
    `sha256=${'ü'.repeat(64)}`,
    `sha256=${'0'.repeat(64)}`,
  ])('%j is no signature', (other) => {
    expect(verifyGithub(secret, body, other)).toBe(false)
  })

  test('bytes that are no UTF-8 are verified as they are', async () => {
    const bytes = Buffer.of(0xff, 0xfe, 0x80)
    const { createHmac } = await import('node:crypto')
    const signed = `sha256=${createHmac('sha256', secret).update(bytes).digest('hex')}`
    expect(verifyGithub(secret, bytes, signed)).toBe(true)
    expect(verifyGithub(secret, Buffer.from(bytes.toString()), signed)).toBe(false)
  })
})

describe('Slack', () => {
  const secret = keyOf('8f742231b10e8888abcd99yyyzzz85a5')
  const timestamp = '1531420618'
  const body = Buffer.from(
    'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
  )
  const signature = 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503'
  const now = 1531420618

  test('the published vector is accepted, and refused with any byte changed', () => {
    expect(verifySlack(secret, body, { timestamp, signature }, now)).toBe(true)
    for (const other of changed(body)) expect(verifySlack(secret, other, { timestamp, signature }, now)).toBe(false)
    for (const other of changed(Buffer.from(signature)))
      expect(verifySlack(secret, body, { timestamp, signature: other.toString() }, now)).toBe(false)
  })

  test.each([`x${signature}`, `${signature}0`, signature.slice(0, -1), `v0=${'0'.repeat(64)}`])(
    '%j is no signature',
    (other) => {
      expect(verifySlack(secret, body, { timestamp, signature: other }, now)).toBe(false)
    },
  )

  test('a timestamp counts for five minutes either way, and only in ten digits', () => {
    const at = (seconds: number) => verifySlack(secret, body, { timestamp, signature }, now + seconds)
    expect([at(-301), at(-300), at(300), at(301)]).toEqual([false, true, true, false])
    for (const other of [
      '',
      'NaN',
      ' 12',
      ' 1531420618',
      '1531420618 ',
      '1531420618.0',
      '1_531420618',
      '01531420618',
    ]) {
      const mac = createHmac('sha256', secret).update(`v0:${other}:`).update(body).digest('hex')
      expect(verifySlack(secret, body, { timestamp: other, signature: `v0=${mac}` }, now)).toBe(false)
    }
  })
})

describe('Standard Webhooks', () => {
  const text = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const secret = keyOf(standardWebhookSecret(text)!)
  const body = Buffer.from('{"test": 2432232314}')
  const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek'
  const now = 1614265330
  const signed = {
    id,
    timestamp: String(now),
    signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  }

  test('the published vector is made and accepted, and refused with any byte changed', () => {
    expect(signStandardWebhook(secret, { id, body, nowSeconds: now })).toEqual(signed)
    expect(verifyStandardWebhook(secret, body, signed, now)).toBe(true)
    for (const other of changed(body)) expect(verifyStandardWebhook(secret, other, signed, now)).toBe(false)
    expect(verifyStandardWebhook(secret, body, { ...signed, id: 'msg_other' }, now)).toBe(false)
  })

  test('one right signature among others is enough; other versions are not', () => {
    const among = (signature: string) => verifyStandardWebhook(secret, body, { ...signed, signature }, now)
    expect(among(`v1,${'A'.repeat(43)}= v1a,abc ${signed.signature}`)).toBe(true)
    expect(among(signed.signature.replace('v1,', 'v2,'))).toBe(false)
    for (const other of ['', `x${signed.signature}`, `${signed.signature}x`, signed.signature.slice(0, -1)])
      expect(among(other)).toBe(false)
  })

  test.each([` ${now}`, `${now}.0`, `0x${now.toString(16)}`, '', ` ${now} `])('%j is no timestamp', (timestamp) => {
    const mac = createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(body).digest('base64')
    expect(verifyStandardWebhook(secret, body, { id, timestamp, signature: `v1,${mac}` }, now)).toBe(false)
  })

  test.each(['', 'a b', 'x'.repeat(256), 'a.b', ' a', 'a '])('%j is no id', (other) => {
    const signedSo = signStandardWebhook(secret, { id: other, body, nowSeconds: now })
    expect(verifyStandardWebhook(secret, body, signedSo, now)).toBe(false)
  })

  test('it counts for five minutes either way, and its id holds no dot', () => {
    const at = (seconds: number) => verifyStandardWebhook(secret, body, signed, now + seconds)
    expect([at(-301), at(-300), at(300), at(301)]).toEqual([false, true, true, false])
    const dotted = signStandardWebhook(secret, { id: 'a.b', body, nowSeconds: now })
    expect(verifyStandardWebhook(secret, body, dotted, now)).toBe(false)
  })

  test('the published library accepts what we sign, and we accept what it signs; a byte changed, neither does', () => {
    const library = new Webhook(text)
    const at = Math.floor(Date.now() / 1000)
    const ours = signStandardWebhook(secret, { id, body, nowSeconds: at })
    const headers = { 'webhook-id': id, 'webhook-timestamp': ours.timestamp, 'webhook-signature': ours.signature }
    expect(library.verify(body, headers)).toEqual({ test: 2432232314 })
    const theirs = library.sign(id, new Date(at * 1000), body.toString())
    const message = { id, timestamp: String(at), signature: theirs }
    expect(verifyStandardWebhook(secret, body, message, at)).toBe(true)
    for (const other of changed(body)) {
      expect(verifyStandardWebhook(secret, other, message, at)).toBe(false)
      expect(() => library.verify(other.toString('latin1'), headers)).toThrow('No matching signature found')
    }
  })
})
