import { TEST_PEPPER, testAccount, testDatabase, type TestAccount, type TestDatabase } from '@keelson/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { idempotencyStore } from './idempotency-store.ts'

let database: TestDatabase
let account: TestAccount

beforeAll(async () => {
  database = await testDatabase()
  account = await testAccount(database.db)
})
afterAll(() => database[Symbol.asyncDispose]())

const request = (key: string, fingerprint = 'body') => ({
  account_id: account.account_id,
  operation: 'createSpan',
  key,
  fingerprint,
})
const age = (key: string, interval: string) =>
  database.db.sql`update identity.idempotency_keys set started_at = now() - ${interval}::interval where key = ${key}`

test('of requests at once with one key exactly one goes', async () => {
  const store = idempotencyStore(database.db, TEST_PEPPER)
  const states = await Promise.all(Array.from({ length: 8 }, () => store.begin(request('at once'))))
  expect(states.map(({ outcome }) => outcome).toSorted()).toEqual([
    ...Array.from({ length: 7 }, () => 'conflict'),
    'go',
  ])
})

test('an answer is replayed for the same body and refused for another', async () => {
  const store = idempotencyStore(database.db, TEST_PEPPER)
  const answer = { status: 200, body: '{"one":1.0}' }
  await store.begin(request('answered'))
  await store.finish(request('answered'), answer)
  expect(await store.begin(request('answered'))).toEqual({ outcome: 'replay', answer })
  expect(await store.begin(request('answered', 'other body'))).toEqual({ outcome: 'reused' })
})

test('a key belongs to its account and operation', async () => {
  const store = idempotencyStore(database.db, TEST_PEPPER)
  const other = await testAccount(database.db)
  await store.begin(request('shared'))
  expect(await store.begin({ ...request('shared'), account_id: other.account_id })).toEqual({ outcome: 'go' })
  expect(await store.begin({ ...request('shared'), operation: 'createModel' })).toEqual({ outcome: 'go' })
})

test('a failed request may be repeated', async () => {
  const store = idempotencyStore(database.db, TEST_PEPPER)
  await store.begin(request('failed'))
  await store.finish(request('failed'), null)
  expect(await store.begin(request('failed'))).toEqual({ outcome: 'go' })
})

test('a request whose process died may be repeated after two minutes, with the same body only', async () => {
  const store = idempotencyStore(database.db, TEST_PEPPER)
  await store.begin(request('died'))
  await age('died', '3 minutes')
  expect(await store.begin(request('died', 'other body'))).toEqual({ outcome: 'reused' })
  expect(await store.begin(request('died'))).toEqual({ outcome: 'go' })
})

test('an answer is forgotten after a day', async () => {
  const store = idempotencyStore(database.db, TEST_PEPPER)
  await store.begin(request('old'))
  await store.finish(request('old'), { status: 200, body: '1' })
  await age('old', '25 hours')
  expect(await store.begin(request('old', 'other body'))).toEqual({ outcome: 'go' })
})

test('expired keys of an account go away with its new ones', async () => {
  const store = idempotencyStore(database.db, TEST_PEPPER)
  for (const key of ['expired 1', 'expired 2']) {
    await store.begin(request(key))
    await age(key, '25 hours')
  }
  await store.begin(request('fresh'))
  const left = await database.db.sql`select from identity.idempotency_keys where key like 'expired%'`
  expect(left).toHaveLength(0)
})
