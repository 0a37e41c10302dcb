import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import type { Producer, Ring } from './backend.ts'
import { doorbellHealth, type DoorbellState } from './doorbell-health.ts'
import type { Observer, RingResult } from './observer.ts'
import { patience } from './patience.ts'
import { producerInUse } from './producer-in-use.ts'

/** How long a caller waits at most; the ring goes on without it. */
const CALLER_BUDGET_MS = 50
const MAX_WAITING = 10_000
/** Between two batches: a lone ring goes at once, and many share a statement instead of slowing down whom they serve. */
const PAUSE_MS = 100
/** While nobody answers, a few rings a second are enough to notice that somebody does. */
const MAX_WAITING_WHEN_FAILING = 16

export type Doorbell = {
  /** Settles when the ring is stored or lost, at most 50 ms later; never rejects. */
  ring: (ring: Ring) => Promise<void>
  state: () => DoorbellState
  /** Sends what is waiting, then closes the producer. */
  close: () => Promise<void>
}

type Batch = { rings: Map<string, Ring>; callers: ReturnType<typeof patience> }

const emptyBatch = (): Batch => ({ rings: new Map(), callers: patience(CALLER_BUDGET_MS) })

/**
 * Rings for one job. One batch is on its way at a time and the next one gathers meanwhile, and for a moment longer: equal rings that wait
 * become one, while a ring that was already sent never absorbs a later one.
 */
export const doorbell = (job: string, open: () => Producer, { count, log }: Observer): Doorbell => {
  const producer = producerInUse(open)
  const health = doorbellHealth(job, log)
  let next = emptyBatch()
  let flushing: Promise<void> | null = null
  const closing = new AbortController()

  const tally = (result: RingResult) => count('queue_rings_total', { job, result })

  const deliver = async (rings: readonly Ring[]): Promise<RingResult> => {
    try {
      await producer.send(rings)
      health.succeeded()
      return 'rung'
    } catch (error) {
      health.failed(error)
      return 'failed'
    }
  }

  const flush = async () => {
    await nextTurn()
    while (next.rings.size > 0) {
      const batch = next
      next = emptyBatch()
      const result = await deliver([...batch.rings.values()])
      for (const _ of batch.rings) tally(result)
      batch.callers.letGo()
      if (result === 'rung') await delay(PAUSE_MS, undefined, { signal: closing.signal }).catch(() => {})
    }
    flushing = null
  }

  return {
    ring: async (ring) => {
      const key = JSON.stringify([ring.payload, ring.delayMs])
      const limit = health.state().status === 'failing' ? MAX_WAITING_WHEN_FAILING : MAX_WAITING
      if (next.rings.has(key)) tally('coalesced')
      else if (next.rings.size >= limit) return tally('dropped')
      else next.rings.set(key, ring)
      flushing ??= flush()
      await next.callers.wait()
    },
    state: health.state,
    close: async () => {
      closing.abort()
      await flushing
      await producer.close()
    },
  }
}
