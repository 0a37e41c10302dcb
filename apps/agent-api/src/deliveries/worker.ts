import type { Queue } from '@keelson/queue'
import { claimDue, type Claim } from './claim.ts'
import { deliver, type DeliverDeps } from './deliver.ts'
import { PURGED_AT_ONCE, settlements as settlementsOf, type Settlements } from './settle.ts'
import { slots as slotsOf } from './slots.ts'
import { wakeable } from './wakeable.ts'

export type DeliveryWorkerOptions = Omit<DeliverDeps, 'settlements'> & {
  queue: Pick<Queue, 'work'>
  /** How long a delivery is this worker's; longer than an attempt takes. */
  claimMs: number
  /** Attempts at a time. */
  concurrency?: number
  /** Between two looks for what no ring told of. */
  sweepMs?: number
  /** How long ended deliveries are kept. */
  keepDays?: number
}

const PURGE_EVERY_MS = 600_000

/** Removes what ended long ago, every ten minutes, and on while there is more. */
const purger = ({ purge }: Pick<Settlements, 'purge'>, keepDays: number) => {
  let dueAt = 0
  return async (): Promise<void> => {
    if (performance.now() < dueAt || (await purge(keepDays)) === PURGED_AT_ONCE) return
    dueAt = performance.now() + PURGE_EVERY_MS
  }
}

/** Delivers what was accepted: it looks for what is due when rung, when an attempt has ended, and every second. */
export const startDeliveryWorker = (options: DeliveryWorkerOptions): AsyncDisposable => {
  const { db, log, queue, claimMs, concurrency = 32, sweepMs = 1_000, keepDays = 30 } = options
  const settlements = settlementsOf(db)
  const purge = purger(settlements, keepDays)
  const slots = slotsOf(concurrency)
  const attempts = new Set<Promise<void>>()
  const pause = wakeable()
  const stopping = new AbortController()

  /** What could not be written down is left to the end of its claim. */
  const attempt = async (claim: Claim): Promise<void> => {
    const slot = slots.take(claim)
    await deliver({ ...options, settlements }, claim).catch((err: unknown) =>
      log.warn({ delivery_id: claim.id, err }, 'an attempt was lost'),
    )
    slot[Symbol.dispose]()
    pause.wake()
  }

  const start = (claim: Claim): void => {
    const running = attempt(claim).finally(() => attempts.delete(running))
    attempts.add(running)
  }

  /** Starts what fits, and tells whether there may be more. */
  const startDue = async (): Promise<boolean> => {
    const { load } = slots
    if (load.free === 0) return false
    const claims = await claimDue(db, load, claimMs)
    claims.forEach(start)
    return claims.length > 0
  }

  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        if (await startDue()) continue
        await purge()
      } catch (err) {
        log.warn({ err }, 'a look for due deliveries failed')
      }
      await pause.until(sweepMs * (0.75 + Math.random() / 2))
    }
  }

  const rung = queue.work('deliver_webhook', async () => pause.wake(), { concurrency })
  const ended = loop()

  return {
    [Symbol.asyncDispose]: async () => {
      stopping.abort()
      pause.wake()
      await Promise.all([rung[Symbol.asyncDispose](), ended])
      await Promise.all(attempts)
    },
  }
}
