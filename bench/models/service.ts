import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect, type Database } from '@keelson/database'
import { migrate } from '@keelson/database/migrate'
import { accountKeyStore, authenticator, idempotencyStore, identityStore } from '@keelson/identity'
import { createApp } from '@keelson/platform-api/app'
import { connectQueue, migrateQueue } from '@keelson/queue'
import { accountKeys, generateKey, keyProvider } from '@keelson/secrets'
import { createLogger, createMetrics, listen, typeId } from '@keelson/service-kit'

/** platform-api as a process of its own and, beside it, a handler that only inserts the same body and commits. */
const KEYS = 4
const [, , url = '', redisUrl = ''] = process.argv
const pepper = Buffer.alloc(32, 'bench')

const servePlainInsert = async ({ sql }: Database): Promise<string> => {
  await sql`create table public.plain_models (id text primary key, name text not null, configuration text not null)`
  const insert = async (body: string): Promise<object> => {
    const { name, vendor_configuration } = JSON.parse(body) as { name: string; vendor_configuration: object }
    const row = { id: typeId('model'), name, configuration: JSON.stringify(vendor_configuration) }
    await sql`insert into public.plain_models ${sql(row)}`
    return row
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    const answer = async () => {
      const text = JSON.stringify(await insert(Buffer.concat(chunks).toString()))
      response.writeHead(200, { 'content-length': Buffer.byteLength(text) }).end(text)
    }
    request.on('end', () => void answer())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

await migrate(url)
await migrateQueue(url)
const db = connect({ url, applicationName: 'bench', maxConnections: 10 })
const provider = await keyProvider({ provider: 'environment', keys: generateKey() })
const identities = identityStore(db, pepper)
const { account_id } = await identities.createAccount('bench')
const { id: identity_id } = await identities.createIdentity({ account_id, type: 'user', name: 'bench' })
const issued = await Promise.all(Array.from({ length: KEYS }, () => identities.issueKey({ account_id, identity_id })))
const log = createLogger({ service: 'platform-api', level: 'fatal' })
const { authenticate } = authenticator({ db, pepper, header: 'x-api-key' })
const app = createApp({
  db,
  queue: await connectQueue({ redisUrl, databaseUrl: url, log }),
  accountKeys: accountKeys(provider, accountKeyStore(db), { cacheSize: 1000, ttlMs: 900_000 }),
  authenticate,
  idempotency: idempotencyStore(db, pepper),
  log,
  metrics: createMetrics(),
  nativeInferenceGateway: true,
})
const listening = await listen(app, { host: '127.0.0.1', port: 0, metricsPort: 0, drainMs: 1000 })
const insertUrl = await servePlainInsert(db)
process.send?.({ url: listening.url, insertUrl, tokens: issued.map(({ token }) => token), account_id, identity_id })
process.on('disconnect', () => process.exit())
