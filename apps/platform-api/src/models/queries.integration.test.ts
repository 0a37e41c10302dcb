import { createClient } from '@keelson/contracts/client'
import { platformRoutes } from '@keelson/contracts/platform'
import type { Database } from '@keelson/database'
import { authenticator, idempotencyStore } from '@keelson/identity'
import { createMetrics } from '@keelson/service-kit'
import { eventually, TEST_PEPPER } from '@keelson/testing'
import { expect, test } from 'vitest'
import { createApp } from '../app.ts'
import { testApp } from '../test-app.fixture.ts'

/** Written for all keys together, now and then. */
const isBookkeeping = (statement: string) => statement.includes('touch_api_keys')

/** A query of postgres.js is run when somebody waits for it. */
const whenAwaited = (query: Promise<unknown>, tell: () => void) => {
  const then = query.then.bind(query)
  // oxlint-disable-next-line unicorn/no-thenable
  query.then = (...handlers) => {
    tell()
    return then(...handlers)
  }
  return query
}

/** The same database, with the statements that are run through it written down; parts of others are none. */
const watched = (db: Database) => {
  const statements: string[] = []
  const sql = new Proxy(db.sql, {
    apply: (target, self, args: unknown[]) => {
      const [strings] = args
      const query: unknown = Reflect.apply(target as never, self, args)
      if (!Array.isArray(strings) || !('raw' in strings) || isBookkeeping(strings.join('?'))) return query
      return whenAwaited(query as Promise<unknown>, () => statements.push(strings.join('?')))
    },
    get: (target, name) => {
      if (name === 'begin' || name === 'unsafe') statements.push(name)
      return Reflect.get(target, name) as unknown
    },
  })
  return { db: { ...db, sql }, statements }
}

test('a GET of a model is one query, and a create is one: model and deployment together', async () => {
  await using app = await testApp()
  const { db, statements } = watched(app.db)
  await using keys = authenticator({ db, pepper: TEST_PEPPER, header: 'x-api-key' })
  const idempotency = idempotencyStore(db, TEST_PEPPER)
  const service = createApp({ ...app, db, idempotency, authenticate: keys.authenticate, metrics: createMetrics() })
  const { headers } = await app.client()
  const client = createClient(platformRoutes, { fetch: service.fetch, headers })
  const create = (name: string) =>
    client.createModel({ body: { name, vendor_configuration: { model: 'llama-3-8b-instruct' } } })
  const { id } = await create('first')
  let count = 0
  const run = async (work: () => Promise<unknown>): Promise<string[]> => {
    statements.length = 0
    await work()
    return [...statements]
  }
  // Until the key is known, each request also looks it up.
  await eventually(async () => {
    const all = await run(() => create(`another ${(count += 1)}`))
    expect(all).toEqual([expect.stringMatching(/insert into platform\.models[^]*insert into platform\.deployments/)])
  })
  const read = await run(() => client.getModel({ params: { model_id: id } }))
  expect(read).toEqual([expect.stringMatching(/^\s*select \? from platform\.models/)])
})
