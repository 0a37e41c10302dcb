import { appendFile } from 'node:fs/promises'
import { connect } from '@keelson/database'
import { assertMigrated } from '@keelson/database/migrate'
import {
  assertBoundRole,
  auditSealer,
  authenticator,
  FailedAttempts,
  idempotencyStore,
  openAccountKeys,
  systemSecret,
  type AuditCheckpoint,
} from '@keelson/identity'
import { connectQueue } from '@keelson/queue'
import {
  createLogger,
  createMetrics,
  listen,
  openTracer,
  queueCounter,
  runMain,
  serviceLimits,
  serviceTimeouts,
  watchPool,
  watchRedis,
} from '@keelson/service-kit'
import { createApp } from './app.ts'
import { bodyLimits, platformConfig } from './config.ts'

await runMain(
  async (stack) => {
    const config = platformConfig(process.env)
    const log = createLogger({ service: 'platform-api', level: config.LOG_LEVEL, fields: ['seal', 'rows', 'mac'] })
    const tracer = await openTracer(config, { service: 'platform-api', log })
    if (tracer) stack.use(tracer)
    const metrics = createMetrics()
    const database_url = config.DATABASE_URL.expose()
    const db = stack.use(
      connect({ url: database_url, applicationName: 'platform-api', maxConnections: config.DATABASE_CONNECTIONS }),
    )
    await assertMigrated(db)
    await assertBoundRole(db, process.env)
    const accountKeys = await openAccountKeys(db, process.env)
    const pepper = await systemSecret(accountKeys, 'api-key.pepper')
    const { authenticate, accountOf } = stack.use(
      authenticator({ db, pepper, header: 'x-api-key', failedAttempts: new FailedAttempts() }),
    )
    const checkpoint = async (made: AuditCheckpoint) => {
      if (config.AUDIT_CHECKPOINT_FILE === null) log.info(made, 'audit checkpoint')
      else await appendFile(config.AUDIT_CHECKPOINT_FILE, `${JSON.stringify(made)}\n`)
    }
    const onError = (err: unknown) => log.error({ err }, 'the audit log could not be sealed')
    stack.use(auditSealer({ db, key: await systemSecret(accountKeys, 'audit.mac'), checkpoint, onError }))
    const queue = stack.use(
      await connectQueue({
        redisUrl: config.REDIS_URL ?? undefined,
        databaseUrl: database_url,
        log,
        count: queueCounter(metrics),
      }),
    )
    watchPool(metrics, () => db.sql.reserve())
    watchRedis(metrics, queue)
    const nativeInferenceGateway = config.NATIVE_INFERENCE_GATEWAY
    const service = createApp({
      limits: serviceLimits(config, bodyLimits(config)),
      tracer,
      db,
      queue,
      accountKeys,
      authenticate,
      accountOf,
      idempotency: idempotencyStore(db, pepper),
      proxyHops: config.PROXY_HOPS,
      log,
      metrics,
      nativeInferenceGateway,
    })
    const { HOST: host, PORT: port, METRICS_PORT: metricsPort, DRAIN_TIMEOUT: drainMs } = config
    stack.use(await listen(service, { host, port, metricsPort, drainMs, timeouts: serviceTimeouts(config) }))
  },
  { service: 'platform-api' },
)
