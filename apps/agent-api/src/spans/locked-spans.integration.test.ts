import { agentRoutes } from '@keelson/contracts/agent'
import { createClient } from '@keelson/contracts/client'
import { connect, isBlocked } from '@keelson/database'
import { createMetrics } from '@keelson/service-kit'
import { testAccount, testDatabase } from '@keelson/testing'
import { expect, test } from 'vitest'
import { createApp } from '../app.ts'
import { testApp } from '../test-app.fixture.ts'
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

test('a batch in which some rows are locked is 200, those items 503 and every other written', async () => {
  await using app = await testApp()
  await using db = connect({ url: app.url, applicationName: 'test', lockTimeoutMs: 100 })
  const writer = spanWriter(db)
  const { headers, account_id } = await app.client()
  const { fetch } = createApp({ ...app, metrics: createMetrics(), spanWriter: writer })
  const client = createClient(agentRoutes, { fetch, headers })
  const ids = Array.from({ length: 300 }, (_, index) => `span ${index % 250}`)
  const spans = ids.map((id) => ({ id, trace_id: 'trace', name: 'step', start_time: '2026-01-01' }))
  await client.createSpanBatch({ body: { spans } })
  const locked = ['span 7', 'span 123']
  const { results } = await app.db.sql.begin(async (tx) => {
    await tx`select from agent.spans where account_id = ${account_id} and id = any(${locked}) for update`
    return client.putSpanBatch({ body: { spans: spans.map((span) => ({ ...span, output: { done: true } })) } })
  })
  expect(results.map(({ id, status }) => [id, status])).toEqual(ids.map((id) => [id, locked.includes(id) ? 503 : 200]))
  const written = await app.db.sql`select from agent.spans where account_id = ${account_id} and output is not null`
  expect(written).toHaveLength(248)
  await writer.drain()
})
