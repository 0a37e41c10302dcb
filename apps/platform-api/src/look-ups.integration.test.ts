import { createClient } from '@keelson/contracts/client'
import { platformRoutes } from '@keelson/contracts/platform'
import { connect } from '@keelson/database'
import { createMetrics } from '@keelson/service-kit'
import { expect, test } from 'vitest'
import { createApp } from './app.ts'
import { testApp } from './test-app.fixture.ts'

// A statement gets the plan it keeps at its sixth execution.
const UNTIL_PLANS_ARE_KEPT = 8

/** One connection, so that every statement meets its plan again. */
const onOneConnection = async () => {
  await using stack = new AsyncDisposableStack()
  const app = stack.use(await testApp())
  const db = stack.use(connect({ url: app.url, applicationName: 'look-ups', maxConnections: 1 }))
  const service = createApp({ ...app, db, metrics: createMetrics() })
  const { account_id, headers } = await app.client()
  const client = createClient(platformRoutes, { fetch: service.fetch, headers })
  const { sql } = db

  const fill = async (from: number, to: number) => {
    const named = sql`from (select 'name ' || n as name from generate_series(${from}::integer, ${to}::integer) n) as made`
    await sql`
      insert into platform.credentials (account_id, id, name, description, credential_metadata, type,
        created_by_identity_type, created_by_user_id)
      select ${account_id}, name, name, '', '{}', 'key', 'user', 'user' ${named}`
    await sql`
      insert into platform.models (account_id, id, name, model_type, model_vendor, status,
        created_by_identity_type, created_by_user_id)
      select ${account_id}, name, name, 'generic', 'openai', 'ready', 'user', 'user' ${named}`
  }

  const rowsRead = async (): Promise<number> => {
    await sql`select pg_stat_force_next_flush()`
    const [read] = await sql<[{ rows: number }]>`
      select sum(idx_tup_fetch)::integer as rows from pg_stat_user_tables where schemaname = 'platform'`
    return read.rows
  }
  const owned = stack.move()
  return { client, sql, fill, rowsRead, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

test('what is looked up by name is not searched for in its account, with plans from when there was little', async () => {
  await using scene = await onOneConnection()
  const { client, sql, fill, rowsRead } = scene
  await sql`alter table platform.credentials set (autovacuum_enabled = off)`
  await sql`alter table platform.models set (autovacuum_enabled = off)`
  await fill(1, 16)
  const model = { model_vendor: 'openai', model_type: 'generic' } as const
  const [left, right] = await Promise.all(
    ['left', 'right'].map((name) => client.createModel({ body: { ...model, name } })),
  )
  let isSwapped = false
  const swap = () => {
    isSwapped = !isSwapped
    const name = isSwapped ? right!.name : left!.name
    return client.updateModel({ params: { model_id: left!.id }, body: { name, on_conflict: 'swap' } })
  }
  const lookUps = {
    'models that swap their names': swap,
    'a credential': () => client.getCredentialByName({ params: { credential_name: 'name 7' } }),
    'credentials of a name': () => client.listCredentials({ query: { name: 'name 7' } }),
    'credentials of a name, by time of change': () =>
      client.listCredentials({ query: { name: 'name 7', sort_by: 'updated_at' } }),
    'a model that is created again': () =>
      client.createModel({ body: { ...model, name: 'name 7', on_conflict: 'update' } }),
    'models of a name': () => client.listModels({ query: { name: 'name 7' } }),
  }
  for (const lookUp of Object.values(lookUps)) for (let n = 0; n < UNTIL_PLANS_ARE_KEPT; n += 1) await lookUp()
  await fill(17, 2000)
  const read: Record<string, number> = {}
  for (const [name, lookUp] of Object.entries(lookUps)) {
    const before = await rowsRead()
    await lookUp()
    read[name] = (await rowsRead()) - before
  }
  expect(Object.entries(read).filter(([, rows]) => rows > 10)).toEqual([])
})
