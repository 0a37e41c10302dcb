import { connect } from '@keelson/database'
import { afterAll, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'
import { checkpointAccount } from './account.fixture.ts'
import { sweepCheckpoints } from './sweep-checkpoints.ts'

const app = await testApp()
const impatient = connect({ url: app.url, applicationName: 'test', lockTimeoutMs: 100 })
afterAll(async () => {
  await impatient[Symbol.asyncDispose]()
  await app[Symbol.asyncDispose]()
})
const { sql } = app.db

const THREADS = ['first', 'second', 'third']

/** An account with three threads; `age` moves their changes, and deletions if any, eight days back. */
const oldThreads = async () => {
  const account = await checkpointAccount(app)
  const { account_id } = account.client
  for (const thread of THREADS) await account.step(thread, 1)
  const age = () => sql`
    update agent.threads set updated_at = now() - interval '8 days',
      deleted_at = case when deleted_at is not null then now() - interval '8 days' end
    where account_id = ${account_id}`
  const left = async () =>
    (await sql`select thread_id from agent.threads where account_id = ${account_id} order by 1`).map(
      ({ thread_id }) => thread_id as string,
    )
  return { ...account, account_id, age, left }
}

/** A sweep while another session holds the first thread. */
const sweepLocked = (account_id: string) =>
  sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtext(${account_id}), hashtext(${THREADS[0]!}))`
    await expect(sweepCheckpoints(impatient)).rejects.toMatchObject({ code: '55P03' })
  })

test('a locked thread fails the sweep, and the others are swept', async () => {
  const { client, account_id, age, threads } = await oldThreads()
  await client.setCheckpointTtl({ body: { ttl_seconds: 10 } })
  await age()
  await sweepLocked(account_id)
  expect(await threads()).toEqual(['first'])
  expect(await sweepCheckpoints(impatient)).toMatchObject({ threads: 1 })
})

test('a locked tombstone fails the sweep, and the others go', async () => {
  const { client, account_id, age, left } = await oldThreads()
  for (const thread_id of THREADS) await client.deleteThread({ body: { thread_id } })
  await age()
  await sweepLocked(account_id)
  expect(await left()).toEqual(['first'])
})

test('a locked thread does not keep the tombstones of other accounts', async () => {
  const locked = await oldThreads()
  await locked.client.setCheckpointTtl({ body: { ttl_seconds: 10 } })
  await locked.age()
  const other = await oldThreads()
  for (const thread_id of THREADS) await other.client.deleteThread({ body: { thread_id } })
  await other.age()
  await sweepLocked(locked.account_id)
  expect(await other.left()).toEqual([])
})
