import { connect, isBlocked } from '@keelson/database'
import { testAccount, testDatabase } from '@keelson/testing'
import { expect, test } from 'vitest'
import { spanWriter } from './span-writer.ts'

const IDS = Array.from({ length: 20 }, (_, index) => `span ${index}`)
const LOCKED = 'span 7'

const NOTHING = { parent_id: null, task_id: null, end_time: null, input: null, output: null, data: null }

test.each(['put', 'patch', 'create'] as const)(
  'a locked row is refused to a %s alone, and its neighbours are written',
  async (kind) => {
    await using database = await testDatabase()
    await using db = connect({ url: database.url, applicationName: 'test', lockTimeoutMs: 100 })
    const { account_id } = await testAccount(db)
    const writer = spanWriter(db)
    const write = (id: string, output: string | null) => ({
      ...NOTHING,
      account_id,
      id,
      trace_id: 'trace',
      name: 'step',
      start_time: '2026-01-01T10:00:00Z',
      output,
    })
    await Promise.all(IDS.map((id) => writer.create(write(id, null))))
    const outcomes = await database.db.sql.begin(async (tx) => {
      await tx`select from agent.spans where account_id = ${account_id} and id = ${LOCKED} for update`
      return Promise.allSettled(IDS.map((id) => writer[kind](write(id, '1'))))
    })
    const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []))
    expect(reasons.map(isBlocked)).toEqual([true])
    const written = await db.sql<{ id: string }[]>`
    select id from agent.spans where account_id = ${account_id} and output is not null`
    expect(written.map(({ id }) => id).toSorted()).toEqual(IDS.filter((id) => id !== LOCKED).toSorted())
    await writer.drain()
  },
)
