import { eventually } from '@keelson/testing'
import { afterAll, expect, test } from 'vitest'
import { freezableProxy } from './testing/freezable-proxy.ts'
import { present, replicas, tryKey } from './testing/replicas.ts'

const fixture = await replicas()
const { account_id, db, issue, listeners, start, store, url } = fixture
afterAll(() => fixture[Symbol.asyncDispose]())

test('a revoked key stops working on every replica within a second, however warm it is', async () => {
  const warm = [await start(), await start()]
  for (let round = 0; round < 5; round += 1) {
    const { id, token } = await issue()
    for (const service of warm) expect(await tryKey(service, token)).toBe('accepted')
    await store.revokeKey({ account_id, id })
    const revoked = performance.now()
    for (const service of warm)
      await eventually(async () => expect(await tryKey(service, token)).toBe('unauthenticated'), { intervalMs: 1 })
    expect(performance.now() - revoked).toBeLessThan(1_000)
  }
})

test('a key revoked in plain SQL, or deleted, stops working as soon', async () => {
  const service = await start()
  for (const end of [
    (id: string) => db.sql`update identity.api_keys set revoked_at = now(), row_mac = null where id = ${id}`,
    (id: string) => db.sql`delete from identity.api_keys where id = ${id}`,
  ]) {
    const { id, token } = await issue()
    expect(await tryKey(service, token)).toBe('accepted')
    await end(id)
    await eventually(async () => expect(await tryKey(service, token)).toBe('unauthenticated'), { deadlineMs: 1_000 })
  }
})

test('a revocation at the moment the listener is cut off takes effect as soon, and the listener comes back', async () => {
  const service = await start()
  const { id, token } = await issue()
  expect(await tryKey(service, token)).toBe('accepted')
  await db.sql.begin(async (tx) => {
    for (const { pid } of await listeners(service.name)) await tx`select pg_terminate_backend(${pid})`
    await tx`update identity.api_keys set revoked_at = now(), row_mac = null where id = ${id}`
  })
  await eventually(async () => expect(await tryKey(service, token)).toBe('unauthenticated'), { deadlineMs: 1_000 })
  await eventually(async () => expect(await listeners(service.name)).toHaveLength(1))
  const next = await issue()
  expect(await tryKey(service, next.token)).toBe('accepted')
  await store.revokeKey({ account_id, id: next.id })
  await eventually(async () => expect(await tryKey(service, next.token)).toBe('unauthenticated'), {
    deadlineMs: 1_000,
  })
})

test('a listener whose connection falls silent without closing counts as lost, so revocation holds there too', async () => {
  await using proxy = await freezableProxy(url)
  const service = await start({}, proxy.url)
  const freezeListener = proxy.freezer()
  const { id, token } = await issue()
  expect(await tryKey(service, token)).toBe('accepted')
  freezeListener()
  await store.revokeKey({ account_id, id })
  await eventually(async () => expect(await tryKey(service, token)).toBe('unauthenticated'), { deadlineMs: 1_000 })
})

test('a key that expires stops working at that moment although it is warm', async () => {
  const service = await start()
  const [row] = await db.sql<{ at: string }[]>`select now() + interval '2 seconds' as at`
  const { token } = await issue({ expires_at: row!.at })
  expect(await tryKey(service, token)).toBe('accepted')
  const accepted = performance.now()
  await eventually(async () => expect(await tryKey(service, token)).toBe('unauthenticated'), { deadlineMs: 4_000 })
  expect(performance.now() - accepted).toBeGreaterThan(200)
})

test('a rolled key works beside its successor for the grace period, and no longer', async () => {
  const service = await start()
  const { id, token } = await issue({ scopes: ['spans:read'], name: 'robot' })
  const successor = await store.rollKey({ account_id, id }, { graceMs: 2_000 })
  expect(await tryKey(service, token)).toBe('accepted')
  expect((await service.authenticate(present(successor.token))).scopes).toEqual(new Set(['spans:read']))
  await eventually(async () => expect(await tryKey(service, token)).toBe('unauthenticated'), { deadlineMs: 4_000 })
  expect(await tryKey(service, successor.token)).toBe('accepted')
})
