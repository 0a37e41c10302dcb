import { setTimeout as delay } from 'node:timers/promises'
import type { ProblemError } from '@keelson/contracts/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'

let app: Awaited<ReturnType<typeof testApp>>

beforeAll(async () => void (app = await testApp()))
afterAll(() => app[Symbol.asyncDispose]())

const LLM = { model: 'llama-3-8b-instruct' }

/** Models that are ready, of an account of their own. */
const models = async (...names: string[]) => {
  const client = await app.client()
  const ids: string[] = []
  for (const name of names) {
    const { id } = await client.createModel({ body: { name, vendor_configuration: LLM } })
    await app.settle(id)
    ids.push(id)
  }
  return { client, ids }
}

const untilSomebodyWaits = async (): Promise<void> => {
  const waiting = () =>
    app.db.sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  while ((await waiting()).length === 0) await delay(5)
}

test('a swap gets its name, also from a model that has it only since the swap began', async () => {
  const { client, ids } = await models('a', 'b', 'c')
  const [a, b, c] = ids as [string, string, string]
  let swap: Promise<unknown> = Promise.resolve()
  await app.db.sql.begin(async (tx) => {
    await tx`update platform.models set name = case when id = ${a} then 'b' else 'a' end where id in (${a}, ${b})`
    swap = client.updateModel({ params: { model_id: c }, body: { name: 'a', on_conflict: 'swap' } })
    await untilSomebodyWaits()
  })
  expect(await swap).toMatchObject({ id: c, name: 'a' })
  const { items } = await client.listModels()
  expect(Object.fromEntries(items.map(({ id, name }) => [id, name]))).toEqual({ [a]: 'b', [b]: 'c', [c]: 'a' })
})

test.each(['create', 'rename'] as const)('a %s that waits in a circle is tried again', async (change) => {
  const { client, ids } = await models('a', 'b')
  const [a, b] = ids as [string, string]
  const body = { name: 'a', vendor_configuration: LLM }
  const start = () =>
    change === 'create'
      ? client.createModel({ body })
      : client.updateModel({ params: { model_id: b }, body: { name: 'a' } })
  let started: Promise<unknown> = Promise.resolve()
  await app.db.sql.begin(async (tx) => {
    // So that the request is the one that Postgres ends.
    await tx`set local deadlock_timeout = '1min'`
    await tx`update platform.models set name = 'z' where id = ${a}`
    started = start().catch((error: unknown) => error)
    // Waits for the request, whose name this is by now; in one step, before Postgres looks for a circle.
    await tx.unsafe(`
      do $$ begin
        while not exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock') loop
          perform pg_sleep(0.005), pg_stat_clear_snapshot();
        end loop;
        update platform.models set name = 'a' where id = '${a}';
      end $$`)
  })
  const refused = (await started) as ProblemError
  expect([refused.status, refused.problem?.code]).toEqual([409, 'model_exists'])
})
