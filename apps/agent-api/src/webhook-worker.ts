import { connect } from '@keelson/database'
import { assertMigrated } from '@keelson/database/migrate'
import { assertBoundRole, openAccountKeys } from '@keelson/identity'
import { connectQueue } from '@keelson/queue'
import {
  createLogger,
  createMetrics,
  listenProbes,
  openTracer,
  queueCounter,
  runMain,
  watchPool,
  watchRedis,
} from '@keelson/service-kit'
import { agentNetwork } from './agents/agent-network.ts'
import { webhookWorkerConfig } from './config.ts'
import { deliveryCounter, deliveryMetrics } from './deliveries/delivery-metrics.ts'
import { startDeliveryWorker } from './deliveries/worker.ts'

await runMain(
  async (stack, signal) => {
    const config = webhookWorkerConfig(process.env)
    const log = createLogger({
      service: 'webhook-worker',
      level: config.LOG_LEVEL,
      fields: ['delivery_id', 'attempts'],
    })
    const tracer = await openTracer(config, { service: 'webhook-worker', log })
    if (tracer) stack.use(tracer)
    const metrics = createMetrics()
    const url = config.DATABASE_URL.expose()
    const maxConnections = config.DATABASE_CONNECTIONS
    const db = stack.use(connect({ url, applicationName: 'webhook-worker', maxConnections }))
    await assertMigrated(db)
    await assertBoundRole(db, process.env)
    const accountKeys = await openAccountKeys(db, process.env)
    const network = stack.use(agentNetwork({ allowPrivate: config.ALLOW_PRIVATE_AGENTS }))
    deliveryMetrics(metrics, db)
    const count = queueCounter(metrics)
    const redisUrl = config.REDIS_URL ?? undefined
    const queue = stack.use(await connectQueue({ redisUrl, databaseUrl: url, log, count }))
    watchPool(metrics, () => db.sql.reserve())
    watchRedis(metrics, queue)
    const attempted = deliveryCounter(metrics)
    stack.use(
      startDeliveryWorker({
        attempted,
        tracer,
        db,
        accountKeys,
        network,
        queue,
        log,
        attemptMs: config.WEBHOOK_ATTEMPT_TIMEOUT,
        // Longer than the attempt, so that no second worker attempts what this one still waits for.
        claimMs: 2 * config.WEBHOOK_ATTEMPT_TIMEOUT,
        concurrency: config.WEBHOOK_CONCURRENCY,
      }),
    )
    const checks = { postgres: () => db.sql`select 1`.execute(), queue: queue.ping }
    const { HOST: host, PORT: port, METRICS_PORT: metricsPort } = config
    stack.use(await listenProbes({ host, port, metricsPort, checks, metrics, log, isDraining: () => signal.aborted }))
  },
  { service: 'webhook-worker' },
)
