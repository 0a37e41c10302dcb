export { CREDENTIAL_NAME_UNIQUE, credentials, credentialVersions } from './credentials.ts'
export { platform } from './schema.ts'
export {
  DEPLOYED_VENDORS,
  MODEL_AVAILABILITIES,
  MODEL_NAME_KEY,
  MODEL_STATUSES,
  models,
  type DeployedVendor,
  type ModelAvailability,
  type ModelStatus,
} from './models.ts'
export {
  ACTIVE_PHASES,
  DEPLOYMENT_ACTIVE_KEY,
  DEPLOYMENT_KINDS,
  deployments,
  FINAL_PHASES,
  REASON_CODES,
  startDeployment,
  type ActivePhase,
  type DeploymentKind,
  type DeploymentPhase,
  type FinalPhase,
  type NewDeployment,
  type ReasonCode,
} from './deployments.ts'
