import { route, z } from '@keelson/contracts'
import document from '@keelson/contracts/openapi/agent-api.json' with { type: 'json' }
import { connect, isTransient } from '@keelson/database'
import { migrate } from '@keelson/database/migrate'
import { authenticator, identityStore } from '@keelson/identity'
import { createLogger, createMetrics, createService, listen } from '@keelson/service-kit'
import { spanRoutes } from '@keelson/agent-api/spans/routes'
import { spanWriter } from '@keelson/agent-api/spans/span-writer'
import { baselineWriter } from './baseline-writer.ts'

/** agent-api as a process of its own: `node service.ts DATABASE_URL group|single`; tells its parent where it listens. */
const KEYS = 16
const [, , url = '', mode = 'group'] = process.argv
const pepper = Buffer.alloc(32, 'bench')

await migrate(url)
// As many connections as postgres.js opens by default: the baseline's rate on a slow disk is theirs.
const db = connect({ url, applicationName: `bench ${mode}`, maxConnections: 10 })
const identities = identityStore(db, pepper)
const { account_id } = await identities.createAccount(`bench ${mode} ${process.pid}`)
const { id: identity_id } = await identities.createIdentity({ account_id, type: 'user', name: 'bench' })
const keys = await Promise.all(Array.from({ length: KEYS }, () => identities.issueKey({ account_id, identity_id })))

const log = createLogger({ service: 'agent-api', level: 'fatal' })
const { authenticate } = authenticator({ db, pepper, header: 'authorization' })
const writer = mode === 'group' ? spanWriter(db) : baselineWriter(db)
const service = createService({
  name: 'agent-api',
  document: async () => document,
  log,
  metrics: createMetrics(),
  authenticate,
  readiness: {},
  isTransient,
  // On a machine that does other things as well, the guards would answer instead of what is measured.
  limits: { maxEventLoopDelayMs: 60_000, crowdSize: 1000 },
})
spanRoutes(service, { db, spanWriter: writer })

/** The least a service can do to answer with a span. */
const params = z.object({ span_id: z.string() })
const bare = route('getBare', 'get', '/bare/{span_id}', {
  tag: 'bench',
  summary: 'Bare',
  scope: 'spans:read',
  params,
  ok: z.unknown(),
})
service.handle(bare, async ({ params }) => {
  const [row] = await db.sql`select * from agent.spans where account_id = ${account_id} and id = ${params.span_id}`
  return row
})

const listening = await listen(service, { host: '127.0.0.1', port: 0, metricsPort: 0, drainMs: 1000 })
process.on('disconnect', () => process.exit())
process.send?.({ url: listening.url, tokens: keys.map(({ token }) => token), account_id, pid: process.pid })
