import type { Database } from '@keelson/database'
import type { DeployedVendor } from '@keelson/database/platform'
import type { Step } from '../vendors/step.ts'
import type { Vendor } from '../vendors/vendor.ts'

export type OrphanOptions = {
  db: Pick<Database, 'sql'>
  vendors: Readonly<Record<DeployedVendor, Vendor>>
  startStep: () => Step
  /** Whether to remove them, beside telling. Off where several installations share one vendor account. */
  remove: boolean
  onOrphan: (vendor: DeployedVendor, model_id: string) => void
}

/** Of these models, the ones that should have nothing at the vendor. */
const withoutEndpoint = async ({ db: { sql } }: OrphanOptions, model_ids: readonly string[]): Promise<string[]> => {
  const rows = await sql<{ id: string }[]>`
    select listed.id from unnest(${model_ids as string[]}::text[]) as listed (id)
    where not exists (
      select from platform.models m
      where m.id = listed.id and (
        m.status in ('ready', 'deploying') or m.model_availability <> 'unavailable'
        or exists (
          select from platform.deployments d
          where d.account_id = m.account_id and d.model_id = m.id and d.finished_at is null
        )
      )
    )`
  return rows.map(({ id }) => id)
}

/**
 * Looks for endpoints of ours that no model needs: a request that hung at the vendor longer than anybody waited for it.
 * An endpoint must be found so twice in a row, which no deployment under way is.
 */
export const orphanWatch = (options: OrphanOptions) => {
  let suspects = new Set<string>()
  return async (): Promise<boolean> => {
    const found = new Set<string>()
    for (const [name, vendor] of Object.entries(options.vendors) as [DeployedVendor, Vendor][]) {
      for (const model_id of await withoutEndpoint(options, await vendor.list(options.startStep()))) {
        found.add(`${name} ${model_id}`)
        if (!suspects.has(`${name} ${model_id}`)) continue
        options.onOrphan(name, model_id)
        if (!options.remove) continue
        const spec = { account_id: '', model_id, generation: Infinity, configuration: '{}', traceparent: null }
        await vendor.destroy(spec, options.startStep())
      }
    }
    suspects = found
    return false
  }
}
