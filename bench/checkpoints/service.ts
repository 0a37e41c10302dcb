import { checkpointWriter } from '@keelson/agent-api/checkpoints/checkpoint-writer'
import { checkpointRoutes } from '@keelson/agent-api/checkpoints/routes'
import { connect } from '@keelson/database'
import { migrate } from '@keelson/database/migrate'
import { authenticator } from '@keelson/identity'
import { createLogger, createMetrics, createService, listen } from '@keelson/service-kit'
import { TEST_PEPPER, testAccount } from '@keelson/testing/test-account'

// agent-api in a process of its own, `node service.ts DATABASE_URL`; tells its parent where it is and with which key.
const [, , url = ''] = process.argv
await migrate(url)
// As many connections as the service has by default.
const db = connect({ url, applicationName: 'bench', maxConnections: 12 })
const { authenticate } = authenticator({ db, pepper: TEST_PEPPER, header: 'authorization' })
const service = createService({
  name: 'agent-api',
  document: async () => ({ paths: {} }),
  log: createLogger({ service: 'agent-api', level: 'error' }),
  metrics: createMetrics(),
  authenticate,
  readiness: {},
  // On a machine that does other things as well, the guard would answer instead of what is measured.
  limits: { maxEventLoopDelayMs: 60_000 },
})
checkpointRoutes(service, { db, checkpointWriter: checkpointWriter(db) })
const { token, account_id } = await testAccount(db)
const { url: baseUrl } = await listen(service, { host: '127.0.0.1', port: 0, metricsPort: 0, drainMs: 1000 })
process.send?.({ baseUrl, apiKey: token, account_id })
process.on('disconnect', () => process.exit(0))
