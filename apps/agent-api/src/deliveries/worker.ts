import { setTimeout as delay } from 'node:timers/promises'
import type { Queue } from '@keelson/queue'
import { claims as claimsOf, type Claim } from './claim.ts'
import { deliver, type DeliverDeps } from './deliver.ts'
import { settlements as settlementsOf } from './settle.ts'

export type DeliveryWorkerOptions = Omit<DeliverDeps, 'settlements'> & {
  queue: Pick<Queue, 'work'>
  /** How long a delivery is this worker's; longer than an attempt takes. */
  claimMs: number
  concurrency?: number
  /** Between two looks for what no ring told of. */
  sweepMs?: number
  /** How long ended deliveries are kept. */
  keepDays?: number
}

const PURGE_EVERY_MS = 600_000

/** Delivers what was accepted: at once when rung, and by looking at what is due when not. */
export const startDeliveryWorker = (options: DeliveryWorkerOptions): AsyncDisposable => {
  const { db, log, queue, claimMs, concurrency = 16, sweepMs = 1_000, keepDays = 30 } = options
  const claims = claimsOf(db, { claimMs })
  const settlements = settlementsOf(db)
  const stopping = new AbortController()

  /** What could not be written down is left to the end of its claim. */
  const tryDeliver = (claim: Claim): Promise<void> =>
    deliver({ ...options, settlements }, claim).catch((err: unknown) =>
      log.warn({ delivery_id: claim.id, err }, 'an attempt was lost'),
    )

  const rung = queue.work(
    'deliver_webhook',
    async ({ account_id, delivery_id }) => {
      const claim = account_id === undefined ? null : await claims.one(account_id, delivery_id)
      if (claim) await tryDeliver(claim)
    },
    { concurrency },
  )

  const sweep = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const due = await claims.due(concurrency)
      await Promise.all(due.map(tryDeliver))
      if (due.length < concurrency) return
    }
  }

  const loop = async () => {
    let purgeAt = 0
    while (!stopping.signal.aborted) {
      try {
        await sweep()
        if (performance.now() >= purgeAt && (await settlements.purge(keepDays)) < 1000) {
          purgeAt = performance.now() + PURGE_EVERY_MS
        }
      } catch (err) {
        log.warn({ err }, 'a look for due deliveries failed')
      }
      await delay(sweepMs * (0.75 + Math.random() / 2), undefined, { signal: stopping.signal }).catch(() => {})
    }
  }
  const ended = loop()

  return {
    [Symbol.asyncDispose]: async () => {
      stopping.abort()
      await Promise.all([rung[Symbol.asyncDispose](), ended])
    },
  }
}
