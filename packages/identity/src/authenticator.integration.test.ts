import { connect } from '@keelson/database'
import { ApiError } from '@keelson/service-kit'
import { eventually } from '@keelson/testing'
import { afterAll, expect, test } from 'vitest'
import { authenticator } from './authenticator.ts'
import { FailedAttempts } from './failed-attempts.ts'
import { generateKey } from './key-format.ts'
import { outcomeOf, present, replicas, tryKey } from './testing/replicas.ts'

const fixture = await replicas()
const { account_id, db, identity_id, issue, listeners, pepper, start, store, url } = fixture
afterAll(() => fixture[Symbol.asyncDispose]())

test('a key tells account, identity, its own id and scopes', async () => {
  const service = await start()
  const { id, token } = await issue({ scopes: ['spans:read', 'models:read'] })
  const principal = await service.authenticate(present(token))
  expect(principal).toEqual({
    account_id,
    identity_id,
    identity_type: 'user',
    key_id: id,
    scopes: new Set(['spans:read', 'models:read']),
  })
  const everything = await issue()
  expect((await service.authenticate(present(everything.token))).scopes).toBeNull()
})

test('whatever is no live key of ours is refused with the same answer', async () => {
  const service = await start()
  const { id, token } = await issue()
  const expired = await issue({ expires_at: '2020-01-01T00:00:00Z' })
  await store.revokeKey({ account_id, id })
  const wrongCrc = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`
  const attempts = [
    new Headers(),
    present(''),
    present('nonsense'),
    present(wrongCrc),
    present(generateKey('user')),
    present(generateKey('agent')),
  ]
  attempts.push(
    present(token),
    present(expired.token),
    present(`${token},${token}`),
    new Headers({ authorization: `Bearer ${token}` }),
  )
  const errors = await Promise.all(
    attempts.map((headers) => service.authenticate(headers).catch((error: ApiError) => error)),
  )
  const seen = errors.map(
    (error) => error instanceof ApiError && [error.code, error.detail, error.headers, error.errors],
  )
  expect(new Set(seen.map((answer) => JSON.stringify(answer))).size).toBe(1)
  expect(errors[0]).toMatchObject({ code: 'unauthenticated' })
})

test('whose request it is, is known of keys that have been used, without asking anybody, until one is revoked', async () => {
  const service = await start()
  const { id, token } = await issue()
  expect(service.accountOf(present(token))).toBeNull()
  // What was remembered before the announcement that a key is new is forgotten again.
  await eventually(async () => {
    await service.authenticate(present(token))
    expect(service.accountOf(present(token))).toBe(account_id)
  })
  await store.revokeKey({ account_id, id })
  await eventually(() => expect(service.accountOf(present(token))).toBeNull())
  for (const stranger of [new Headers(), present('nonsense'), present(generateKey('user'))])
    expect(service.accountOf(stranger)).toBeNull()
})

test('another account may not be selected', async () => {
  const service = await start()
  const { token } = await issue()
  const select = (selected: string) =>
    outcomeOf(service.authenticate(new Headers({ 'x-api-key': token, 'x-selected-account-id': selected })))
  expect(await select(account_id)).toBe('accepted')
  for (const other of ['acct_other', '', `${account_id}, ${account_id}`])
    expect(await select(other)).toBe('account_mismatch')
})

test('bearer tokens open the service that takes them, and two different credentials open nothing', async () => {
  const service = await start({ header: 'authorization' })
  const { token } = await issue()
  const other = await issue()
  const attempt = (headers: Record<string, string>) => outcomeOf(service.authenticate(new Headers(headers)))
  expect(await attempt({ authorization: `bearer ${token}` })).toBe('accepted')
  expect(await attempt({ 'x-agent-api-key': token })).toBe('accepted')
  expect(await attempt({ authorization: `Bearer ${token}`, 'x-agent-api-key': token })).toBe('accepted')
  expect(await attempt({ authorization: `Bearer ${token}`, 'x-agent-api-key': other.token })).toBe('unauthenticated')
  expect(await attempt({ 'x-api-key': token })).toBe('unauthenticated')
})

test('a row edited or made past this product opens nothing and is reported', async () => {
  const service = await start()
  const edits = [
    (id: string) => db.sql`update identity.api_keys set scopes = null where id = ${id}`,
    (id: string) => db.sql`update identity.api_keys set expires_at = null where id = ${id}`,
    (id: string) => db.sql`update identity.api_keys set id = 'key_other' where id = ${id}`,
  ]
  for (const edit of edits) {
    const { id, token } = await issue({ scopes: ['spans:read'], expires_at: '2099-01-01T00:00:00Z' })
    expect(await tryKey(service, token)).toBe('accepted')
    await edit(id)
    await eventually(async () => expect(await tryKey(service, token)).toBe('unauthenticated'))
  }
  expect(service.refusals.filter((refusal) => refusal === 'tampered').length).toBeGreaterThanOrEqual(edits.length)
})

test('too many failures from one address are answered with 429, while keys from there that were valid go on working', async () => {
  const { token } = await issue()
  const service = await start({ failedAttempts: new FailedAttempts({ burst: 5 }) })
  await service.authenticate(present(token), '192.0.2.1')
  for (let attempt = 0; attempt < 5; attempt += 1) {
    expect(await outcomeOf(service.authenticate(present(generateKey('user')), '192.0.2.1'))).toBe('unauthenticated')
  }
  const limited = await service.authenticate(present('nonsense'), '192.0.2.1').catch((error: ApiError) => error)
  expect(limited).toMatchObject({ code: 'rate_limited' })
  expect((limited as ApiError).retryAfterSeconds).toBeGreaterThan(0)
  expect(await outcomeOf(service.authenticate(present(token), '192.0.2.1'))).toBe('accepted')
  expect(await outcomeOf(service.authenticate(present('nonsense'), '192.0.2.2'))).toBe('unauthenticated')

  // What was warm is cold when announcements were lost.
  const [lost] = await listeners(service.name)
  await db.sql`select pg_terminate_backend(${lost!.pid})`
  await eventually(async () => {
    const [listener] = await listeners(service.name)
    expect(listener?.pid ?? lost!.pid).not.toBe(lost!.pid)
  })
  expect(await outcomeOf(service.authenticate(present(token), '192.0.2.1'))).toBe('accepted')
  expect(await outcomeOf(service.authenticate(present('nonsense'), '192.0.2.1'))).toBe('rate_limited')
})

test('while the database is away a key that is not warm is answered with 503', async () => {
  await using away = connect({ url: 'postgres://nobody@127.0.0.1:1/none', applicationName: 'away' })
  await using service = authenticator({ db: away, pepper, header: 'x-api-key' })
  expect(await tryKey(service, generateKey('user'))).toBe('unavailable')
})

test('times of last use are written in one statement, at the latest when the service stops', async () => {
  const keys = await Promise.all([issue(), issue(), issue()])
  const usedAt = async () => {
    const rows = await store.listKeys(account_id)
    return keys.map(({ id }) => rows.find((row) => row.id === id)?.last_used_at ?? null)
  }
  {
    await using own = connect({ url, applicationName: 'last used' })
    await using service = authenticator({ db: own, pepper, header: 'x-api-key' })
    for (const { token } of keys.slice(0, 2)) await service.authenticate(present(token))
    expect(await usedAt()).toEqual([null, null, null])
  }
  expect(await usedAt()).toEqual([expect.stringMatching(/Z$/), expect.stringMatching(/Z$/), null])
})
