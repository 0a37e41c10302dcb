import { setMaxListeners } from 'node:events'
import type { Database } from '@keelson/database'
import type { DeployedVendor } from '@keelson/database/platform'
import type { JobPayload, Queue } from '@keelson/queue'
import { repeat, type Logger, type Tracer } from '@keelson/service-kit'
import type { DeployerConfig } from './config.ts'
import type { Ports } from './deployments/advance.ts'
import { startReconciler } from './deployments/reconcile.ts'
import type { PostgresDeployments } from './deployments/store.ts'
import { fairShare } from './fair-share.ts'
import type { DeployerMetrics } from './metrics.ts'
import { startStep } from './vendors/step.ts'
import type { Vendor } from './vendors/vendor.ts'
import { watchAvailability } from './watch/availability.ts'
import { checkInvariants, type Invariant } from './watch/invariants.ts'
import { orphanWatch } from './watch/orphans.ts'
import { worker } from './worker.ts'

export type DeployerOptions = {
  config: Pick<
    DeployerConfig,
    | 'stepMs'
    | 'limits'
    | 'SWEEP_INTERVAL'
    | 'WORKER_CONCURRENCY'
    | 'LEASE'
    | 'OBSERVE_INTERVAL'
    | 'ORPHAN_INTERVAL'
    | 'REMOVE_ORPHANS'
  >
  db: Database
  store: PostgresDeployments
  /** `null` runs without doorbells, on the reconciler alone. */
  queue: Pick<Queue, 'ring' | 'work'> | null
  vendors: Readonly<Record<DeployedVendor, Vendor>>
  metrics: DeployerMetrics
  tracer?: Tracer | null
  log: Logger
  /** Cuts vendor calls short; their outcome is then unknown, and looked up by whoever takes over. */
  hurry: AbortSignal
}

/** Steps of one round for each place: a round must be short, or who comes late waits for it. */
const ROUNDS_PER_PLACE = 2
const WATCH_BATCH = 32
const WATCH_CONCURRENCY = 4
const DOORBELL_PAD_MS = 5

/** Starts everything a deployer does: doorbells, the reconciler, and the watches over what is deployed. */
export const startDeployer = (options: DeployerOptions): AsyncDisposable => {
  const { config, db, store, queue, vendors, metrics, tracer = null, log, hurry } = options
  // Every vendor call under way listens.
  setMaxListeners(0, hurry)
  const begin = () => startStep(config.stepMs, hurry)
  // Not waited for: a ring may be lost anyway, and nobody who works is to be held up by it.
  const ring: Ports['ring'] = async ({ account_id, id }, delayMs) => {
    void queue?.ring('advance_deployment', { account_id, deployment_id: id }, { delayMs: delayMs + DOORBELL_PAD_MS })
  }
  const ports = { store, vendors, ring, startStep: begin, random: Math.random, limits: config.limits }
  const advance = worker({ ports, metrics, tracer, log })
  const concurrency = config.WORKER_CONCURRENCY
  const intervalMs = config.SWEEP_INTERVAL
  const observeMs = config.OBSERVE_INTERVAL
  const watched = { db, vendors, startStep: begin }
  const onOrphan = (vendor: DeployedVendor, model_id: string) => {
    metrics.orphans.inc({ vendor })
    log.warn({ vendor, model_id }, 'an endpoint that no model needs')
  }
  const watchOrphans = orphanWatch({ ...watched, remove: config.REMOVE_ORPHANS, onOrphan })
  const onBroken = (invariant: Invariant, count: number) => {
    metrics.violations.inc({ invariant }, count)
    log.error({ name: invariant, count }, 'an invariant is broken')
  }
  const watchOne = { ...watched, observeMs, batch: WATCH_BATCH, concurrency: WATCH_CONCURRENCY }

  const batch = ROUNDS_PER_PLACE * concurrency

  const stack = new AsyncDisposableStack()
  const sweep = (id: string) => advance(id, 'sweeper')
  // With a queue, whatever is a sweep late has lost its doorbell; without one, nothing has a doorbell.
  const lateMs = queue === null ? 0 : intervalMs
  stack.use(startReconciler({ store, advance: sweep, lateMs, batch, concurrency, intervalMs, log }))
  stack.use(repeat({ name: 'availability', intervalMs: 5 * intervalMs, log, work: () => watchAvailability(watchOne) }))
  stack.use(
    repeat({
      name: 'invariants',
      intervalMs: config.ORPHAN_INTERVAL,
      log,
      work: () => checkInvariants({ db, onBroken }),
    }),
  )
  stack.use(repeat({ name: 'orphans', intervalMs: config.ORPHAN_INTERVAL, log, work: watchOrphans }))
  const share = fairShare(concurrency)
  // Beyond its share an account's doorbell is not heard: the reconciler comes by, and takes the accounts in turns.
  const handle = async ({ account_id = '', deployment_id }: JobPayload<'advance_deployment'>) =>
    void (await share.within(account_id, () => advance(deployment_id, 'doorbell')))
  if (queue) stack.use(queue.work('advance_deployment', handle, { concurrency, lockMs: config.LEASE }))
  return stack
}
