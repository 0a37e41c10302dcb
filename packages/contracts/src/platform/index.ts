import { credentials } from './credentials.ts'
import { models } from './models.ts'

export { credentials, CredentialList } from './credentials.ts'
export {
  CreateCredentialRequest,
  Credential,
  CredentialDeleteResponse,
  CredentialSecret,
  CredentialType,
  isPayloadOf,
  PAYLOAD_LIMIT_BYTES,
  PAYLOAD_NO_JSON,
  UpdateCredentialRequest,
} from './credential.ts'
export { models, InferenceModelList } from './models.ts'
export { InferenceModel, ModelDeleteResponse } from './model.ts'
export { CreateHostedModel, CreateLaunchModel, CreateLlmEngineModel, CreateModelRequest } from './create-model.ts'
export { RenameModel, UpdateModelConfiguration, UpdateModelMetadata, UpdateModelRequest } from './update-model.ts'
export {
  LaunchVendorConfiguration,
  NewLaunchVendorConfiguration,
  PartialLaunchModelImage,
  PartialLaunchModelInfra,
  PartialLaunchVendorConfiguration,
} from './launch-configuration.ts'
export {
  LlmEngineVendorConfiguration,
  NewLlmEngineVendorConfiguration,
  PartialLlmEngineVendorConfiguration,
} from './llm-engine-configuration.ts'
export { launchProblems } from './launch-rules.ts'
export { llmEngineProblems } from './llm-engine-rules.ts'
export type { RuleProblem } from './rule.ts'
export {
  isOfLaunch,
  isOfLlmEngine,
  launchChangeProblems,
  llmEngineChangeProblems,
  type PartialVendorConfiguration,
} from './configuration-change.ts'
export { credentialNameOf } from './env-vars.ts'
export { Deployment, DeploymentKind, DeploymentList, DeploymentPhase, DeploymentReasonCode } from './deployments.ts'
export { IdentityType } from './identity-type.ts'
export {
  DEPLOYED_VENDORS,
  EndpointType,
  GpuType,
  HostedModelVendor,
  InferenceModelAvailability,
  InferenceModelStatus,
  InferenceModelType,
  InferenceModelVendor,
} from './vendors.ts'

const operations = { ...credentials, ...models }

/** Every operation of platform-api. */
export const platformRoutes: (typeof operations)[keyof typeof operations][] = Object.values(operations)
