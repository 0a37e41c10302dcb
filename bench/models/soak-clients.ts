import { setTimeout as delay } from 'node:timers/promises'
import type { FaultStack } from './fault-stack.ts'
import { changeTo, insistentClient, type InsistentClient, type Vendor } from './insistent-client.ts'

export const SETTLED_WITHIN_MS = 330_000

/** Models that were accepted, and whether their deletion was asked for. */
export type Promised = Map<string, 'kept' | 'deleted'>

const counters = () => ({ created: 0, updated: 0, deleted: 0, refused: 0 })

/** One model's life after another. */
const liver = (client: InsistentClient, promised: Promised, counts: ReturnType<typeof counters>) => {
  let made = 0
  const update = async (model_id: string, vendor: Vendor) => {
    await client.update(model_id, changeTo(vendor, (made += 1)))
    counts.updated += 1
    await client.settled(model_id, SETTLED_WITHIN_MS)
  }
  const remove = async (model_id: string) => {
    promised.set(model_id, 'deleted')
    await client.remove(model_id)
    counts.deleted += 1
  }
  return async (): Promise<void> => {
    const vendor = Math.random() < 0.5 ? 'launch' : 'llmengine'
    const model_id = await client.create(`soak ${(made += 1)}`, vendor)
    counts.created += 1
    promised.set(model_id, 'kept')
    await client.settled(model_id, SETTLED_WITHIN_MS)
    if (Math.random() < 0.6) await update(model_id, vendor)
    const fate = Math.random()
    if (fate < 0.5) await remove(model_id)
    // Both at once: one wins, and the other is refused or follows.
    else if (fate < 0.7) await Promise.allSettled([update(model_id, vendor), remove(model_id)])
  }
}

/** Clients that create, update and delete models without end, and remember what they were promised. */
export const soakClients = (stack: FaultStack, count: number) => {
  const counts = counters()
  const promised: Promised = new Map()
  const live = liver(insistentClient(stack), promised, counts)
  const stopping = new AbortController()
  const run = async () => {
    while (!stopping.signal.aborted) {
      await live().catch(async () => {
        counts.refused += 1
        await delay(100)
      })
    }
  }
  const running = Array.from({ length: count }, run)
  return {
    promised,
    counts: () => ({ ...counts }),
    stop: async (): Promise<void> => {
      stopping.abort()
      await Promise.all(running)
    },
  }
}
