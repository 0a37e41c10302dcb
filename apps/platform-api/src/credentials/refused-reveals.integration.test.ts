import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'

const BURST = 3
const app = await testApp({ limits: { rate: { requestsPerSecond: 0.001, burst: BURST } } })
afterAll(() => app[Symbol.asyncDispose]())
const { db } = app

type Caller = Awaited<ReturnType<typeof app.client>>
let caller: Caller
let credential_id: string
beforeEach(async () => {
  caller = await app.client()
  const { id } = await caller.createCredential({ body: { name: 'wanted', payload: 's3cret', type: 'key' } })
  credential_id = id
})

const outcomes = async () => {
  const rows = await db.sql<{ outcome: string }[]>`
    select outcome from identity.audit_log
    where account_id = ${caller.account_id} and action = 'credential.reveal' order by seq`
  return rows.map(({ outcome }) => outcome)
}

describe.each([
  { by: 'id', operation: 'getCredentialSecret', path: () => credential_id, target: () => credential_id },
  { by: 'name', operation: 'getCredentialSecretByName', path: () => 'name/wanted', target: () => null },
])('a reveal by $by', ({ operation, path, target }) => {
  const reveal = async (headers: Record<string, string> = {}) => {
    const url = `http://x/v5/credentials/${path()}/secret`
    const { status } = await app.service.fetch(
      new Request(url, { method: 'POST', headers: { ...caller.headers, ...headers } }),
    )
    return status
  }

  const expectRefused = async (outcome: string) => {
    const { key_id, identity_id } = caller
    const [last] = await db.sql`
      select outcome, target_id, target_version, key_id, identity_id, request_id from identity.audit_log
      where account_id = ${caller.account_id} order by seq desc limit 1`
    const target_id = target()
    expect(last).toEqual({ outcome, target_id, target_version: null, key_id, identity_id, request_id: 'refused' })
  }
  const refused = (headers: Record<string, string> = {}) => reveal({ ...headers, 'x-request-id': 'refused' })

  test('by a key that asks too often leaves a row that says so', async () => {
    for (let sent = 1; sent < BURST; sent += 1) expect(await reveal()).toBe(200)
    expect(await refused()).toBe(429)
    await expectRefused('rate_limited')
  })

  test('by a key of another account than the selected one leaves a row that says so', async () => {
    expect(await refused({ 'x-selected-account-id': 'acct_other' })).toBe(403)
    await expectRefused('account_mismatch')
  })

  test('that cannot be read leaves a row that says so', async () => {
    expect(await refused({ 'idempotency-key': '"' })).toBe(400)
    await expectRefused('invalid_request')
  })

  test('with an Idempotency-Key of another request leaves a row that says so', async () => {
    const { account_id } = caller
    await app.idempotency.begin({ account_id, operation, key: 'used', fingerprint: 'of another' })
    expect(await refused({ 'idempotency-key': 'used' })).toBe(422)
    await expectRefused('idempotency_key_reused')
  })

  test('with an Idempotency-Key that is at work leaves a row that says so, and the one at work leaves its own', async () => {
    const { first } = await db.sql.begin(async (tx) => {
      await tx`lock table platform.credential_versions in access exclusive mode`
      const working = reveal({ 'idempotency-key': 'at-work' })
      await expect.poll(() => db.sql`select from identity.idempotency_keys where key = 'at-work'`).toHaveLength(1)
      expect(await refused({ 'idempotency-key': 'at-work' })).toBe(409)
      await expectRefused('request_in_progress')
      return { first: working }
    })
    expect(await first).toBe(200)
    expect(await outcomes()).toEqual(['request_in_progress', 'granted'])
    await db.sql`delete from identity.idempotency_keys where key = 'at-work'`
  })
})

test('of many refusals at once each leaves its row, in few statements', async () => {
  const requests = Array.from({ length: 200 }, () =>
    app.service.fetch(
      new Request(`http://x/v5/credentials/${credential_id}/secret`, { method: 'POST', headers: caller.headers }),
    ),
  )
  const statuses = (await Promise.all(requests)).map(({ status }) => status)
  const refusals = statuses.filter((status) => status === 429)
  expect(refusals.length).toBe(200 - (BURST - 1))
  expect((await outcomes()).filter((outcome) => outcome === 'rate_limited')).toHaveLength(refusals.length)
  const [row] = await db.sql<{ commits: number }[]>`
    select count(distinct xmin::text)::integer as commits from identity.audit_log
    where account_id = ${caller.account_id} and outcome = 'rate_limited'`
  expect(row!.commits).toBeLessThan(20)
})
