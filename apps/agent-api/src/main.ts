import { connect } from '@keelson/database'
import { assertMigrated } from '@keelson/database/migrate'
import { assertBoundRole, authenticator, FailedAttempts, openAccountKeys, systemSecret } from '@keelson/identity'
import { createLogger, createMetrics, listen, runMain } from '@keelson/service-kit'
import { createApp } from './app.ts'
import { agentConfig } from './config.ts'
import { spanWriter } from './spans/span-writer.ts'

await runMain(
  async (stack) => {
    const config = agentConfig(process.env)
    const log = createLogger({ service: 'agent-api', level: config.LOG_LEVEL })
    const metrics = createMetrics()
    const url = config.DATABASE_URL.expose()
    const db = stack.use(connect({ url, applicationName: 'agent-api', maxConnections: config.DATABASE_CONNECTIONS }))
    await assertMigrated(db)
    await assertBoundRole(db, process.env)
    const accountKeys = await openAccountKeys(db, process.env)
    const pepper = await systemSecret(accountKeys, 'api-key.pepper')
    const { authenticate } = stack.use(authenticator({ db, pepper, header: 'authorization', failedAttempts: new FailedAttempts() }))
    const writer = spanWriter(db)
    stack.defer(writer.drain)
    const service = createApp({ db, spanWriter: writer, authenticate, log, metrics })
    const { HOST: host, PORT: port, METRICS_PORT: metricsPort, DRAIN_TIMEOUT: drainMs } = config
    stack.use(await listen(service, { host, port, metricsPort, drainMs }))
  },
  { service: 'agent-api' },
)
