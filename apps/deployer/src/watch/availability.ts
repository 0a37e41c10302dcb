import type { Database } from '@keelson/database'
import type { DeployedVendor, ModelAvailability } from '@keelson/database/platform'
import { availabilityOf } from '../deployments/transitions.ts'
import { forEach } from '../for-each.ts'
import type { Step } from '../vendors/step.ts'
import { VendorError } from '../vendors/vendor-error.ts'
import type { Spec, Vendor } from '../vendors/vendor.ts'

type Watched = Spec & { model_vendor: DeployedVendor; model_availability: ModelAvailability }

export type AvailabilityOptions = {
  db: Pick<Database, 'sql'>
  vendors: Readonly<Record<DeployedVendor, Vendor>>
  startStep: () => Step
  observeMs: number
  batch: number
  concurrency: number
}

/** Takes the models that should be looked at by now, and says when each is next. */
const takeDue = ({ db: { sql }, observeMs, batch }: AvailabilityOptions): Promise<Watched[]> => sql<Watched[]>`
  update platform.models m set observe_at = now() + ${observeMs}::float8 * interval '1 ms'
  from (
    select account_id, id from platform.models where observe_at <= now() order by observe_at limit ${batch} for update skip locked
  ) due
  where m.account_id = due.account_id and m.id = due.id and m.status <> 'deploying'
    and (m.status = 'ready' or m.model_availability <> 'unavailable')
  returning m.account_id, m.id as model_id, m.generation, m.model_vendor, m.vendor_configuration as configuration,
    m.model_availability, null as traceparent`

const write = async (
  { db: { sql } }: AvailabilityOptions,
  { account_id, model_id, generation }: Watched,
  seen: string,
) => {
  await sql`
    update platform.models set model_availability = ${seen}
    where account_id = ${account_id} and id = ${model_id} and generation = ${generation} and status <> 'deploying'`
}

/**
 * Looks whether models still serve and keeps `model_availability` true; the status stays, it is about deployments.
 *
 * @returns whether there may be more
 */
export const watchAvailability = async (options: AvailabilityOptions): Promise<boolean> => {
  const due = await takeDue(options)
  await forEach(due, options.concurrency, async (model) => {
    try {
      const seen = availabilityOf(await options.vendors[model.model_vendor].observe(model, options.startStep()))
      if (seen !== model.model_availability) await write(options, model, seen)
    } catch (error) {
      if (!(error instanceof VendorError)) throw error
    }
  })
  return due.length === options.batch
}
