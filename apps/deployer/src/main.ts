import { connect } from '@keelson/database'
import { assertMigrated } from '@keelson/database/migrate'
import { assertBoundRole, credentialReveals, openAccountKeys } from '@keelson/identity'
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
import { deployerConfig } from './config.ts'
import { startDeployer } from './deployer.ts'
import { deploymentStore } from './deployments/store.ts'
import { deployerMetrics } from './metrics.ts'
import { connectVendors } from './vendors/connect-vendors.ts'
import { credentialReader } from './vendors/read-credential.ts'

/** How long vendor calls under way may still take after the signal to stop. */
const HURRY_MS = 5_000

await runMain(
  async (stack, signal) => {
    const config = deployerConfig(process.env)
    const log = createLogger({ service: 'deployer', level: config.LOG_LEVEL, fields: ['model_id'] })
    const tracer = await openTracer(config, { service: 'deployer', log })
    if (tracer) stack.use(tracer)
    const { limits } = config
    const databaseUrl = config.DATABASE_URL.expose()

    const db = stack.use(connect({ url: databaseUrl, applicationName: 'deployer' }))
    await assertMigrated(db)
    await assertBoundRole(db, process.env)
    const store = deploymentStore(db, { leaseMs: config.LEASE, limits, observeMs: config.OBSERVE_INTERVAL })
    const processMetrics = createMetrics()
    const metrics = deployerMetrics(processMetrics, store.backlog)
    const queueAt = { redisUrl: config.REDIS_URL ?? undefined, databaseUrl }
    const queue = stack.use(await connectQueue({ ...queueAt, log, count: queueCounter(processMetrics) }))

    watchPool(processMetrics, () => db.sql.reserve())
    watchRedis(processMetrics, queue)
    const reveals = credentialReveals({ db, accountKeys: await openAccountKeys(db, process.env) })
    const vendors = connectVendors(
      {
        connections: {
          launch: { url: config.LAUNCH_URL, apiKey: config.LAUNCH_API_KEY },
          llmengine: { url: config.LLM_ENGINE_URL, apiKey: config.LLM_ENGINE_API_KEY },
        },
        labels: { team: config.VENDOR_LABEL_TEAM, product: config.VENDOR_LABEL_PRODUCT },
        resolveCredential: credentialReader(reveals),
        concurrency: config.VENDOR_CONCURRENCY,
        requestTimeoutMs: config.VENDOR_REQUEST_TIMEOUT,
        metrics,
        tracer,
      },
      stack,
    )

    const hurry = new AbortController()
    signal.addEventListener('abort', () => setTimeout(() => hurry.abort(), HURRY_MS).unref())
    stack.use(startDeployer({ config, db, store, queue, vendors, metrics, tracer, log, hurry: hurry.signal }))

    const checks = { database: () => db.sql`select 1`.execute(), queue: queue.ping }
    const { HOST: host, PORT: port, METRICS_PORT: metricsPort } = config
    const probes = { host, port, metricsPort, checks, metrics: processMetrics, log, isDraining: () => signal.aborted }
    stack.use(await listenProbes(probes))
  },
  { service: 'deployer' },
)
