import { createClient } from '@keelson/contracts/client'
import { agentRoutes } from '@keelson/contracts/agent'
import { accountKeyStore, authenticator, idempotencyStore, identityStore } from '@keelson/identity'
import { connectQueue, migrateQueue } from '@keelson/queue'
import { accountKeys as openKeys, generateKey, keyProvider } from '@keelson/secrets'
import { createLogger, createMetrics } from '@keelson/service-kit'
import { TEST_PEPPER, testAccount, testDatabase } from '@keelson/testing'
import { agentNetwork } from './agents/agent-network.ts'
import { createApp, type Deps } from './app.ts'
import { checkpointWriter } from './checkpoints/checkpoint-writer.ts'
import { createKeyring } from './forward/keyring.ts'
import { spanWriter } from './spans/span-writer.ts'

/** agent-api in memory on a database of its own. */
export const testApp = async (overrides: Partial<Deps> = {}) => {
  const stack = new AsyncDisposableStack()
  const { db, url } = stack.use(await testDatabase())
  const { authenticate } = stack.use(authenticator({ db, pepper: TEST_PEPPER, header: 'authorization' }))
  const writer = spanWriter(db)
  stack.defer(writer.drain)
  await migrateQueue(url)
  const queue = stack.use(await connectQueue({ databaseUrl: url }))
  const provider = await keyProvider({ provider: 'environment', keys: generateKey() })
  const accountKeys = openKeys(provider, accountKeyStore(db), { cacheSize: 1000, ttlMs: 60_000 })
  const network = stack.use(agentNetwork({ allowPrivate: true }))
  const log = createLogger({ service: 'agent-api', level: 'fatal' })
  const deps = {
    db,
    spanWriter: writer,
    checkpointWriter: checkpointWriter(db),
    queue,
    accountKeys,
    identities: identityStore(db, TEST_PEPPER),
    network,
    keyring: createKeyring({ db, accountKeys, log }),
    publicUrl: 'https://agents.example.com',
    authenticate,
    idempotency: idempotencyStore(db, TEST_PEPPER),
    log,
    metrics: createMetrics(),
    ...overrides,
  }
  const service = createApp(deps)

  /** A client of an account of its own. */
  const client = async () => {
    const account = await testAccount(db)
    const headers = { authorization: `Bearer ${account.token}` }
    return { ...account, headers, ...createClient(agentRoutes, { fetch: service.fetch, headers }) }
  }
  return { ...deps, url, service, client, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}
