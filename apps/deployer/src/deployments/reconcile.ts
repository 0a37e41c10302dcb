import { repeat, type Logger } from '@keelson/service-kit'
import { forEach } from '../for-each.ts'
import type { PostgresDeployments } from './store.ts'

export type ReconcileOptions = {
  store: Pick<PostgresDeployments, 'due'>
  advance: (id: string) => Promise<unknown>
  /** How overdue a deployment must be before it counts as one whose doorbell was lost. */
  lateMs: number
  batch: number
  concurrency: number
}

/**
 * Advances the deployments that are overdue and that nobody holds, without going through the queue: with it gone,
 * deployments are slower, and that is all.
 *
 * @returns whether there may be more
 */
export const reconcile = async ({ store, advance, lateMs, batch, concurrency }: ReconcileOptions): Promise<boolean> => {
  const due = await store.due(lateMs, batch)
  await forEach(due, concurrency, ({ id }) => advance(id))
  return due.length === batch
}

/** Reconciles every so often until disposed. */
export const startReconciler = (options: ReconcileOptions & { intervalMs: number; log: Logger }): AsyncDisposable =>
  repeat({ name: 'reconcile', intervalMs: options.intervalMs, log: options.log, work: () => reconcile(options) })
