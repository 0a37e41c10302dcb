import { connect } from '@keelson/database'
import { assertMigrated } from '@keelson/database/migrate'
import {
  assertBoundRole,
  authenticator,
  FailedAttempts,
  idempotencyStore,
  identityStore,
  openAccountKeys,
  systemSecret,
} from '@keelson/identity'
import { connectQueue } from '@keelson/queue'
import {
  createLogger,
  createMetrics,
  gauge,
  listen,
  openTracer,
  queueCounter,
  repeat,
  runMain,
  serviceLimits,
  serviceTimeouts,
  watchPool,
  watchRedis,
} from '@keelson/service-kit'
import { agentNetwork } from './agents/agent-network.ts'
import { createApp } from './app.ts'
import { checkpointWriter } from './checkpoints/checkpoint-writer.ts'
import { sweepCheckpoints } from './checkpoints/sweep-checkpoints.ts'
import { agentConfig, bodyLimits } from './config.ts'
import { createKeyring } from './forward/keyring.ts'
import { scheduleRetention } from './spans/retain-spans.ts'
import { spanWriter } from './spans/span-writer.ts'

const RETENTION_INTERVAL_MS = 3_600_000
const SWEEP_INTERVAL_MS = 60_000

await runMain(
  async (stack) => {
    const config = agentConfig(process.env)
    const log = createLogger({ service: 'agent-api', level: config.LOG_LEVEL })
    const tracer = await openTracer(config, { service: 'agent-api', log })
    if (tracer) stack.use(tracer)
    const metrics = createMetrics()
    const url = config.DATABASE_URL.expose()
    const db = stack.use(connect({ url, applicationName: 'agent-api', maxConnections: config.DATABASE_CONNECTIONS }))
    await assertMigrated(db)
    await assertBoundRole(db, process.env)
    const accountKeys = await openAccountKeys(db, process.env)
    const pepper = await systemSecret(accountKeys, 'api-key.pepper')
    const { authenticate, accountOf } = stack.use(
      authenticator({ db, pepper, header: 'authorization', failedAttempts: new FailedAttempts() }),
    )
    const writer = spanWriter(db)
    stack.defer(writer.drain)
    const retentionMs = config.SPAN_RETENTION
    if (retentionMs !== null) stack.use(scheduleRetention(db, { retentionMs, intervalMs: RETENTION_INTERVAL_MS, log }))
    const sweep = async () => {
      const { threads, tombstones } = await sweepCheckpoints(db)
      return threads + tombstones > 0
    }
    stack.use(repeat({ name: 'checkpoint sweep', intervalMs: SWEEP_INTERVAL_MS, log, work: sweep }))
    gauge(metrics, 'span_queue_bytes', 'What the spans that wait for their commit weigh', () => writer.queuedBytes)
    const count = queueCounter(metrics)
    const redisUrl = config.REDIS_URL ?? undefined
    const queue = stack.use(await connectQueue({ redisUrl, databaseUrl: url, log, count }))
    watchPool(metrics, () => db.sql.reserve())
    watchRedis(metrics, queue)
    const service = createApp({
      limits: serviceLimits(config, bodyLimits(config)),
      tracer,
      db,
      spanWriter: writer,
      checkpointWriter: checkpointWriter(db),
      maxTupleBytes: config.MAX_TUPLE_BYTES,
      queue,
      accountKeys,
      identities: identityStore(db, pepper),
      network: stack.use(agentNetwork({ allowPrivate: config.ALLOW_PRIVATE_AGENTS })),
      keyring: createKeyring({ db, accountKeys, log }),
      publicUrl: config.PUBLIC_URL,
      authenticate,
      accountOf,
      idempotency: idempotencyStore(db, pepper),
      proxyHops: config.PROXY_HOPS,
      log,
      metrics,
    })
    const { HOST: host, PORT: port, METRICS_PORT: metricsPort, DRAIN_TIMEOUT: drainMs } = config
    stack.use(await listen(service, { host, port, metricsPort, drainMs, timeouts: serviceTimeouts(config) }))
  },
  { service: 'agent-api' },
)
