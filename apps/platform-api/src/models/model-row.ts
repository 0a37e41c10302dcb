import { JsonText, type RouteOutput } from '@keelson/contracts'
import type { Deployment, models } from '@keelson/contracts/platform'
import type { ModelAvailability, ModelStatus } from '@keelson/database/platform'

export type Model = RouteOutput<typeof models.getModel>

/** A model as it is stored; migration 0020. */
export type ModelRow = {
  id: string
  created_at: string
  created_by_identity_type: 'user' | 'service_account'
  created_by_user_id: string
  model_type: Model['model_type']
  model_vendor: Model['model_vendor']
  name: string
  status: ModelStatus
  model_availability: ModelAvailability
  model_metadata: string | null
  status_reason: string | null
  vendor_configuration: string | null
  generation: number
  revision: number
}

export const MODEL_COLUMNS = [
  'id',
  'created_at',
  'created_by_identity_type',
  'created_by_user_id',
  'model_type',
  'model_vendor',
  'name',
  'status',
  'model_availability',
  'model_metadata',
  'status_reason',
  'vendor_configuration',
  'generation',
  'revision',
] as const

/** A stored configuration was checked against its schema when it was accepted; it is shown as the text it was stored as. */
const storedConfiguration = (text: string) =>
  new JsonText(text) as unknown as NonNullable<Model['vendor_configuration']>

/** The model as its readers see it: what is not known is left out. */
export const presentModel = (row: ModelRow): Model => ({
  id: row.id,
  created_at: row.created_at,
  created_by_identity_type: row.created_by_identity_type,
  created_by_user_id: row.created_by_user_id,
  model_type: row.model_type,
  model_vendor: row.model_vendor,
  name: row.name,
  status: row.status,
  model_availability: row.model_availability,
  object: 'model',
  ...(row.model_metadata !== null && { model_metadata: new JsonText(row.model_metadata) }),
  ...(row.status_reason !== null && { status_reason: row.status_reason }),
  ...(row.vendor_configuration !== null && { vendor_configuration: storedConfiguration(row.vendor_configuration) }),
})

export type DeploymentRow = Omit<Deployment, 'vendor_configuration' | 'object'> & { configuration: string }

export const DEPLOYMENT_COLUMNS = [
  'id',
  'model_id',
  'kind',
  'generation',
  'phase',
  'reason_code',
  'status_message',
  'attempts',
  'configuration',
  'created_at',
  'started_at',
  'accepted_at',
  'deadline',
  'finished_at',
] as const

/** The deployment as its readers see it. */
export const presentDeployment = ({ configuration, ...row }: DeploymentRow): Deployment => ({
  ...row,
  vendor_configuration: new JsonText(configuration),
  object: 'deployment',
})
