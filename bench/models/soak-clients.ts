import { setTimeout as delay } from 'node:timers/promises'
import type { FaultStack } from './fault-stack.ts'
import { changeTo, insistentClient, type Vendor } from './insistent-client.ts'
import { endpointName, wrongs } from './invariants.ts'

const SETTLED_WITHIN_MS = 120_000

/** Clients that create, update and delete models without end, and remember what they were promised. */
export const soakClients = (stack: FaultStack, count: number) => {
  const client = insistentClient(stack)
  const counts = { created: 0, updated: 0, deleted: 0, refused: 0 }
  /** Models that were accepted, and whether their deletion was asked for. */
  const promised = new Map<string, 'kept' | 'deleted'>()
  let isStopping = false
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

  const live = async () => {
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

  const run = async () => {
    while (!isStopping) {
      await live().catch(async () => {
        counts.refused += 1
        await delay(100)
      })
    }
  }
  const running = Array.from({ length: count }, run)

  const problemsOf = async (model_id: string, fate: 'kept' | 'deleted'): Promise<string[]> => {
    const model = await client.settled(model_id, SETTLED_WITHIN_MS)
    if (model?.status === 'deploying') return [`stuck: ${model_id} ${model.status_reason}`]
    if (model === null && fate === 'kept') return [`lost: ${model_id}`]
    if (model !== null && model.status !== 'ready')
      return [`lost: ${model_id} is ${model.status}: ${model.status_reason}`]
    return (await wrongs(stack, model_id)).map((wrong) => `doubled: ${model_id} ${wrong}`)
  }

  /** Waits until nothing is under way. */
  const quiet = async (withinMs: number): Promise<string[]> => {
    const deadline = Date.now() + withinMs
    for (;;) {
      const pending = await stack.db.sql<{ id: string; kind: string; phase: string }[]>`
        select id, kind, phase from platform.deployments where finished_at is null`
      if (pending.length === 0) return []
      if (Date.now() > deadline) return pending.map(({ id, kind, phase }) => `stuck: ${id} ${kind} ${phase}`)
      await delay(200)
    }
  }

  const underWay = async (): Promise<number> => {
    const [row] = await stack.db.sql<[{ count: number }]>`
      select count(*)::int as count from platform.deployments where finished_at is null`
    return row.count
  }

  return {
    counts: () => ({ ...counts }),
    /** Resolves while at least one deployment is under way. */
    busy: async (): Promise<void> => {
      while ((await underWay().catch(() => 0)) === 0) await delay(20)
    },
    stop: async () => {
      isStopping = true
      await Promise.all(running)
    },
    /** Everything that is not as promised, once nothing happens any more. */
    problems: async (withinMs: number): Promise<string[]> => {
      const found = await quiet(withinMs)
      for (const [model_id, fate] of promised) found.push(...(await problemsOf(model_id, fate)))
      const rows = await stack.db.sql<{ id: string }[]>`select id from platform.models where status = 'ready'`
      const { endpoints } = stack.simulator.orphans(rows.map(({ id }) => endpointName(id)))
      return [...found, ...endpoints.map((name) => `doubled: nobody needs ${name}`)]
    },
  }
}
