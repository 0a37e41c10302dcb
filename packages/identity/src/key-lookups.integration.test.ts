import { eventually } from '@keelson/testing'
import { afterAll, expect, test } from 'vitest'
import { generateKey } from './key-format.ts'
import { present, replicas, tryKey } from './testing/replicas.ts'

// Postgres counts for a whole database, when it gets round to it: nothing else looks keys up in this one.
const fixture = await replicas()
const { db, issue, start, url } = fixture
afterAll(() => fixture[Symbol.asyncDispose]())

/** How often keys were looked up in the database, as Postgres counts it once a connection has ended. */
const lookups = async () => {
  const [row] = await db.sql<{ calls: number | null }[]>`
    select pg_stat_get_function_calls('identity.find_api_key(bytea)'::regprocedure) as calls`
  return row?.calls ?? 0
}

await db.sql`alter database ${db.sql(new URL(url).pathname.slice(1))} set track_functions = 'all'`

test('a key is looked up once while it is warm, and once for a crowd that finds it cold', async () => {
  const { token } = await issue()
  const service = await start()
  const before = await lookups()
  await Promise.all(Array.from({ length: 200 }, () => service.authenticate(present(token))))
  for (let again = 0; again < 50; again += 1) await service.authenticate(present(token))
  await service.db[Symbol.asyncDispose]()
  await eventually(async () => expect((await lookups()) - before).toBe(1))
})

test('unknown keys are looked up once in 5 s, malformed ones never', async () => {
  const service = await start()
  const before = await lookups()
  const unknown = generateKey('user')
  for (let attempt = 0; attempt < 20; attempt += 1) {
    await tryKey(service, unknown)
    await tryKey(service, `kluser_${'a'.repeat(49)}`)
  }
  expect(service.refusals.filter((refusal) => refusal === 'malformed')).toHaveLength(20)
  await service.db[Symbol.asyncDispose]()
  await eventually(async () => expect((await lookups()) - before).toBe(1))
})
