import { testDatabase } from '@keelson/testing'
import { afterAll, expect, test } from 'vitest'

const database = await testDatabase()
afterAll(() => database[Symbol.asyncDispose]())

test('a credential is found by its primary key even on a table that nothing is known of yet', async () => {
  const { sql } = database.db
  const [{ analyzed } = { analyzed: null }] = await sql<{ analyzed: number | null }[]>`
    select reltuples as analyzed from pg_class where oid = 'platform.credentials'::regclass`
  expect(analyzed).toBe(-1)
  const plan = await sql.unsafe<Record<string, string>[]>(
    'explain (generic_plan) select from platform.credentials where account_id = $1 and id = $2 for key share',
  )
  expect(plan.map((row) => row['QUERY PLAN']).join('\n')).toContain('credentials_pkey')
})
