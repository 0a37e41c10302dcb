import type { Database } from '@keelson/database'
import { sharedInserts } from '../shared-inserts.ts'
import type { ModelRow } from './model-row.ts'

/** A model about to be made, and the deployment of it where it is deployed. */
export type NewModel = Omit<ModelRow, 'created_at'> & {
  account_id: string
  deployment_id: string | null
  traceparent: string | null
}

type Inserted = { id: string; created_at: string }

const placeOf = ({ account_id, model_vendor, name }: NewModel): string => `${account_id}\n${model_vendor}\n${name}`

/** A lone row travels as plain parameters, so that its caller does not wait for JSON to be taken apart. */
const incomingOne = ({ sql }: Pick<Database, 'sql'>, row: NewModel) => sql`
  select ${row.account_id}::text as account_id, ${row.id}::text as id, ${row.name}::text as name,
    ${row.model_type}::text as model_type, ${row.model_vendor}::text as model_vendor,
    ${row.model_metadata}::text as model_metadata, ${row.vendor_configuration}::text as vendor_configuration,
    ${row.status}::text as status, ${row.model_availability}::text as model_availability,
    ${row.generation}::integer as generation, ${row.created_by_identity_type}::text as created_by_identity_type,
    ${row.created_by_user_id}::text as created_by_user_id, ${row.deployment_id}::text as deployment_id,
    ${row.traceparent}::text as traceparent`

/** In the order of their names, so that two statements never wait for each other. */
const incomingMany = ({ sql }: Pick<Database, 'sql'>, made: readonly NewModel[]) => {
  const rows = made.toSorted((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1))
  return sql`
    select * from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as _ (account_id text, id text, name text,
      model_type text, model_vendor text, model_metadata text, vendor_configuration text, status text,
      model_availability text, generation integer, created_by_identity_type text, created_by_user_id text,
      deployment_id text, traceparent text)`
}

const insert = async (db: Pick<Database, 'sql'>, made: readonly NewModel[]): Promise<string[]> => {
  const incoming = made.length === 1 ? incomingOne(db, made[0] as NewModel) : incomingMany(db, made)
  const inserted = await db.sql<Inserted[]>`
    with made as materialized (${incoming}), model as (
      insert into platform.models (account_id, id, name, model_type, model_vendor, model_metadata, vendor_configuration,
        status, model_availability, generation, created_by_identity_type, created_by_user_id)
      select account_id, id, name, model_type, model_vendor, model_metadata, vendor_configuration, status,
        model_availability, generation, created_by_identity_type, created_by_user_id from made
      returning id, created_at
    ), deployment as (
      insert into platform.deployments (account_id, id, model_id, kind, generation, model_vendor, configuration, traceparent)
      select account_id, deployment_id, id, 'create', generation, model_vendor, vendor_configuration, traceparent
      from made where deployment_id is not null
    )
    select id, created_at from model`
  const times = new Map(inserted.map(({ id, created_at }) => [id, created_at]))
  return made.map(({ id }) => times.get(id) as string)
}

/**
 * Makes models, each with its first deployment: both are there, or neither. Those that come while the database is busy
 * share a statement and its commit; one that fails fails alone.
 */
export const modelInserts = (db: Pick<Database, 'sql'>) => {
  const submit = sharedInserts<NewModel, string>({ what: 'models', insert: (rows) => insert(db, rows), placeOf })
  /** @returns when it was made */
  return (row: NewModel): Promise<string> => {
    const bytes = (row.vendor_configuration?.length ?? 0) * 2 + (row.model_metadata?.length ?? 0) + 1024
    return submit(row.account_id, row, bytes)
  }
}

export type ModelInserts = ReturnType<typeof modelInserts>
