import { testDatabase } from '@keelson/testing'
import { afterAll, expect, test } from 'vitest'

const database = await testDatabase()
afterAll(() => database[Symbol.asyncDispose]())
const { sql } = database.db

const REVEALS = 12

const LOOKUPS = [
  ['credentials_pkey', 'select from platform.credentials where account_id = $1 and id = $2 for key share'],
  [
    'credential_versions_pkey',
    'select from platform.credential_versions where account_id = $1 and credential_id = $2 and version = $3',
  ],
  ['models_pkey', 'select from platform.models where account_id = $1 and id = $2 for key share'],
  ['models_pkey', 'select from platform.models where account_id = $1 order by id desc limit 101'],
  [
    'credentials_name_unique',
    'select from platform.credentials where account_id = $1 and name between $2 and $2 order by name',
  ],
  ['agents_pkey', 'select from agent.agents where account_id = $1 and id = $2'],
  ['agent_api_keys_pkey', 'delete from agent.agent_api_keys where account_id = $1 and id = $2'],
  ['identities_pkey', 'select from identity.identities where account_id = $1 and id = $2'],
  ['deployments_active_by_id', 'select from platform.deployments where id = $1 and finished_at is null'],
  ['deployments_of_model', 'select from platform.deployments where account_id = $1 and model_id = $2 order by id'],
  ['threads_pkey', 'select from agent.threads where account_id = $1 and thread_id = $2'],
  [
    'checkpoints_pkey',
    `select from agent.checkpoints where account_id = $1 and thread_id = $2 and checkpoint_ns = $3
     order by checkpoint_id desc limit 1`,
  ],
] as const

const indexOf = async (query: string) => {
  const plan = await sql.unsafe<Record<string, string>[]>(`explain (generic_plan) ${query}`)
  return /Index (?:Only )?Scan (?:Backward )?using (\w+)/.exec(plan.map((row) => row['QUERY PLAN']).join('\n'))?.[1]
}

const expectIndexes = async () => {
  const found = await Promise.all(LOOKUPS.map(([, query]) => indexOf(query)))
  expect(found).toEqual(LOOKUPS.map(([index]) => index))
}

/** A plan that is kept must do for the rows to come: what is looked up by its key is not searched for in its account. */
test('rows are found by their keys on tables that nothing is known of, and on tables known to be empty', async () => {
  const [{ analyzed } = { analyzed: null }] = await sql<{ analyzed: number | null }[]>`
    select reltuples as analyzed from pg_class where oid = 'platform.credentials'::regclass`
  expect(analyzed).toBe(-1)
  await expectIndexes()
  await sql`analyze platform.credentials, platform.credential_versions, platform.models, platform.deployments, agent.threads, agent.checkpoints`
  await expectIndexes()
})

test('whether a model is being deployed is found by its key, not among all that is being deployed', async () => {
  await sql`
    with model as (
      insert into platform.models (account_id, id, name, model_type, model_vendor, vendor_configuration, status, generation,
        created_by_identity_type, created_by_user_id)
      select 'account', n, n, 'generic', 'llmengine', '{}', 'deploying', 1, 'user', 'user' from generate_series(1, 500) n
    )
    insert into platform.deployments (account_id, id, model_id, kind, generation, model_vendor, configuration)
    select 'account', n, n, 'create', 1, 'llmengine', '{}' from generate_series(1, 500) n`
  expect(
    await indexOf(`select from platform.deployments
      where account_id = $1 and model_id = $2 and generation = $3 and kind in ('create', 'update')`),
  ).toBe('deployments_generation_key')
})

test.each([
  ['id', { id: '1', name: 'null' }],
  ['name', { id: 'null', name: '1' }],
])('reveals by %s read one credential each, also with a plan made while there were few', async (_by, { id, name }) => {
  const connection = await sql.reserve()
  await using stack = new AsyncDisposableStack()
  stack.defer(() => connection.release())
  const fill = (from: number, to: number) => connection`
    insert into platform.credentials (account_id, id, name, description, credential_metadata, type,
      created_by_identity_type, created_by_user_id)
    select 'account', n, n, '', '{}', 'key', 'user', 'user' from generate_series(${from}::integer, ${to}::integer) n`
  // More than the ten that Postgres takes an array of unknown length for, or it would not keep a plan.
  const arrays = ['account', id, name, '1', 'key', 'user', 'user', 'request'].map(
    (value) => `'{${Array(REVEALS).fill(value).join()}}'`,
  )
  const reveals = () => connection.unsafe(`select from platform.reveal_credentials(${arrays.join()})`)
  const rowsRead = async () => {
    const [read] = await connection<{ rows: number }[]>`
      select idx_tup_fetch::integer as rows from pg_stat_xact_user_tables where relid = 'platform.credentials'::regclass`
    return read?.rows ?? Number.NaN
  }
  // A transaction, since Postgres forgets what it counted in those that ended.
  await connection`begin`
  await connection`set local session_replication_role = replica`
  await fill(1, 16)
  for (let n = 0; n < 10; n += 1) await reveals()
  await fill(17, 1000)
  const before = await rowsRead()
  await reveals()
  expect((await rowsRead()) - before).toBe(REVEALS)
  await connection`rollback`
})
