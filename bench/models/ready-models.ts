import type { FaultStack } from './fault-stack.ts'
import { insistentClient, type Vendor } from './insistent-client.ts'
import { historyOf } from './invariants.ts'

/** The deadline of these stacks and half a minute. */
export const SETTLED_WITHIN_MS = 90_000

/** Models that one case leaves ready for the next, with the history that nobody may touch meanwhile. */
export const readyModels = (stack: FaultStack) => {
  const client = insistentClient(stack)
  const kept: { vendor: Vendor; model_id: string; history: string }[] = []
  let made = 0
  const create = (vendor: Vendor): Promise<string> => client.create(`model ${(made += 1)}`, vendor)
  return {
    create,
    take: async (vendor: Vendor): Promise<string> => {
      const at = kept.findIndex((one) => one.vendor === vendor)
      const [known] = at === -1 ? [] : kept.splice(at, 1)
      if (known) return known.model_id
      const model_id = await create(vendor)
      await client.settled(model_id, SETTLED_WITHIN_MS)
      return model_id
    },
    keep: async (vendor: Vendor, model_id: string): Promise<void> => {
      kept.push({ vendor, model_id, history: await historyOf(stack, model_id) })
    },
    /** The models that somebody has written about since: a worker that came back late. */
    touched: async (): Promise<string[]> => {
      const changed = await Promise.all(
        kept.map(async ({ model_id, history }) => (await historyOf(stack, model_id)) !== history),
      )
      return kept.filter((_, at) => changed[at]).map(({ model_id }) => model_id)
    },
  }
}
