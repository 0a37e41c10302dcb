import type { Scope } from '@keelson/contracts'
import { createClient } from '@keelson/contracts/client'
import { platformRoutes } from '@keelson/contracts/platform'
import { accountKeyStore, authenticator, idempotencyStore } from '@keelson/identity'
import { connectQueue, migrateQueue } from '@keelson/queue'
import { accountKeys, generateKey, keyProvider } from '@keelson/secrets'
import { createLogger, createMetrics } from '@keelson/service-kit'
import { TEST_PEPPER, testAccount, testDatabase } from '@keelson/testing'
import { createApp, type Deps } from './app.ts'

/** platform-api in memory on a database of its own, with a queue nobody works on. */
export const testApp = async (
  overrides: Partial<Deps> = {},
  { keys = generateKey(), keyTtlMs = 60_000 }: { keys?: string; keyTtlMs?: number } = {},
) => {
  const stack = new AsyncDisposableStack()
  const { db, url } = stack.use(await testDatabase())
  await migrateQueue(url)
  const queue = stack.use(await connectQueue({ databaseUrl: url }))
  const { authenticate } = stack.use(authenticator({ db, pepper: TEST_PEPPER, header: 'x-api-key' }))
  const provider = await keyProvider({ provider: 'environment', keys })
  const accounts = accountKeys(provider, accountKeyStore(db), { cacheSize: 1000, ttlMs: keyTtlMs })
  const log = createLogger({ service: 'platform-api', level: 'fatal' })
  const metrics = createMetrics()
  const deps = {
    db,
    queue,
    accountKeys: accounts,
    authenticate,
    idempotency: idempotencyStore(db, TEST_PEPPER),
    log,
    metrics,
    nativeInferenceGateway: true,
    ...overrides,
  }
  const service = createApp(deps)

  /** A client of an account of its own. */
  const client = async (options: { scopes?: Scope[] } = {}) => {
    const account = await testAccount(db, options)
    const headers = { 'x-api-key': account.token }
    return { ...account, headers, ...createClient(platformRoutes, { fetch: service.fetch, headers }) }
  }

  /** What the deployer writes when a deployment ends. */
  const settle = async (model_id: string, status: 'ready' | 'failed' = 'ready') => {
    await db.sql.begin(async (tx) => {
      await tx`update platform.deployments set phase = ${status === 'ready' ? 'succeeded' : 'failed'}, finished_at = now()
        where model_id = ${model_id} and finished_at is null`
      await tx`update platform.models set status = ${status}, model_availability = 'available' where id = ${model_id}`
    })
  }
  return { ...deps, url, service, client, settle, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}
