import postgres from 'postgres'
import { describe, expect, test } from 'vitest'
import { eventually } from './eventually.ts'
import { testDatabase } from './test-database.ts'
import { testRedis } from './test-redis.ts'

describe('testDatabase', () => {
  test('every database is migrated, and what one writes no other sees', async () => {
    await using first = await testDatabase()
    await using second = await testDatabase()
    await first.db.sql`create table mine (id int)`
    const [here] = await first.db.sql`select to_regclass('mine') is not null as present from keelson.migrations limit 1`
    const [there] = await second.db
      .sql`select to_regclass('mine') is not null as present from keelson.migrations limit 1`
    expect([here, there]).toEqual([{ present: true }, { present: false }])
  })

  test('a database is gone after its use, even while somebody is connected', async () => {
    await using witness = await testDatabase()
    const gone = await testDatabase()
    const somebody = postgres(gone.url, { max: 1 })
    await somebody`select 1`
    await gone[Symbol.asyncDispose]()
    await somebody.end({ timeout: 0 })
    const name = new URL(gone.url).pathname.slice(1)
    expect(await witness.db.sql`select 1 from pg_database where datname = ${name}`).toEqual([])
  })
})

test('testRedis gives every caller a database of its own, or null for all', () => {
  const urls = [testRedis(), testRedis()]
  const own = urls[0] !== null && !process.env['REDIS_URL']
  expect(new Set(urls).size).toBe(own ? 2 : 1)
})

test('eventually resolves with the first success and rejects with the last failure', async () => {
  let calls = 0
  const third = () => {
    calls += 1
    if (calls < 3) throw new Error(`call ${calls}`)
    return calls
  }
  expect(await eventually(third)).toBe(3)
  const never = () => Promise.reject(new Error('never'))
  await expect(eventually(never, { deadlineMs: 50 })).rejects.toThrow('never')
})
