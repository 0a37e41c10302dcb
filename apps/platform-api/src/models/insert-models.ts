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

/** In the order of their names, so that two statements never wait for each other. */
const insert = async ({ sql }: Pick<Database, 'sql'>, made: readonly NewModel[]): Promise<string[]> => {
  const rows = made.toSorted((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1))
  const column = (field: (row: NewModel) => string | number | null) => rows.map(field)
  const inserted = await sql<Inserted[]>`
    with made as materialized (
      select * from unnest(
        ${column(({ account_id }) => account_id)}::text[],
        ${column(({ id }) => id)}::text[],
        ${column(({ name }) => name)}::text[],
        ${column(({ model_type }) => model_type)}::text[],
        ${column(({ model_vendor }) => model_vendor)}::text[],
        ${column(({ model_metadata }) => model_metadata)}::text[],
        ${column(({ vendor_configuration }) => vendor_configuration)}::text[],
        ${column(({ status }) => status)}::text[],
        ${column(({ model_availability }) => model_availability)}::text[],
        ${column(({ generation }) => generation)}::integer[],
        ${column((row) => row.created_by_identity_type)}::text[],
        ${column((row) => row.created_by_user_id)}::text[],
        ${column(({ deployment_id }) => deployment_id)}::text[],
        ${column(({ traceparent }) => traceparent)}::text[]
      ) as row (account_id, id, name, model_type, model_vendor, model_metadata, vendor_configuration, status,
        model_availability, generation, created_by_identity_type, created_by_user_id, deployment_id, traceparent)
    ), model as (
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
