import { connect } from '@keelson/database'
import { migrate } from '@keelson/database/migrate'
import {
  accountKeyStore,
  assertKeyProvider,
  auditSealer,
  authenticator,
  idempotencyStore,
  identityStore,
} from '@keelson/identity'
import { connectQueue, migrateQueue } from '@keelson/queue'
import { accountKeys, generateKey, keyProvider } from '@keelson/secrets'
import { createLogger, createMetrics, listen } from '@keelson/service-kit'
import { createApp } from '@keelson/platform-api/app'

/** platform-api as a process of its own, told where its database is; tells where it listens, and keys of one account. */
const KEYS = 16
const [, , url = ''] = process.argv
const pepper = Buffer.alloc(32, 'bench')

await migrate(url)
await migrateQueue(url)
const db = connect({ url, applicationName: 'bench', maxConnections: 10 })
const provider = await keyProvider({ provider: 'environment', keys: generateKey() })
await assertKeyProvider(db, provider)
const keys = accountKeys(provider, accountKeyStore(db), { cacheSize: 1000, ttlMs: 900_000 })
const identities = identityStore(db, pepper)
const { account_id } = await identities.createAccount('bench')
const { id: identity_id } = await identities.createIdentity({ account_id, type: 'user', name: 'bench' })
const issued = await Promise.all(Array.from({ length: KEYS }, () => identities.issueKey({ account_id, identity_id })))
const tokens = issued.map(({ token }) => token)

const log = createLogger({ service: 'platform-api', level: 'fatal' })
const { authenticate } = authenticator({ db, pepper, header: 'x-api-key' })
auditSealer({ db, key: pepper, checkpoint: async () => {} })
const queue = await connectQueue({ databaseUrl: url, log })
const deps = {
  db,
  queue,
  accountKeys: keys,
  authenticate,
  idempotency: idempotencyStore(db, pepper),
  log,
  metrics: createMetrics(),
  nativeInferenceGateway: true,
}
const listening = await listen(createApp(deps), { host: '127.0.0.1', port: 0, metricsPort: 0, drainMs: 1000 })

const headers = new Headers({ 'x-api-key': tokens[0]! })
const timeAuthentication = async (calls: number): Promise<number> => {
  const started = performance.now()
  for (let call = 0; call < calls; call += 1) await authenticate(headers)
  return ((performance.now() - started) / calls) * 1000
}
await timeAuthentication(20_000)
const authenticationUs = await timeAuthentication(100_000)
process.on('disconnect', () => process.exit())
process.send?.({ url: listening.url, tokens, account_id, identity_id, authenticationUs })
