import type { LaunchVendorConfiguration, PartialLaunchVendorConfiguration } from './launch-configuration.ts'
import { launchEndpointType } from './launch-rules.ts'
import type { LlmEngineVendorConfiguration, PartialLlmEngineVendorConfiguration } from './llm-engine-configuration.ts'
import { failing, type RuleProblem } from './rule.ts'

export type PartialVendorConfiguration = PartialLaunchVendorConfiguration | PartialLlmEngineVendorConfiguration

const OF_LAUNCH = ['model_image', 'model_infra']

const namesOf = (configuration: PartialVendorConfiguration): string[] =>
  Object.entries(configuration).flatMap(([name, value]) => (value === undefined ? [] : [name]))

/** Whether what changes can be of a Launch configuration; nothing at all can be of either vendor's. */
export const isOfLaunch = (partial: PartialVendorConfiguration): partial is PartialLaunchVendorConfiguration =>
  namesOf(partial).every((name) => OF_LAUNCH.includes(name))

/** Whether what changes can be of an LLM Engine configuration; nothing at all can be of either vendor's. */
export const isOfLlmEngine = (partial: PartialVendorConfiguration): partial is PartialLlmEngineVendorConfiguration =>
  !namesOf(partial).some((name) => OF_LAUNCH.includes(name))

const FIXED = 'cannot change after creation: the vendor keeps it for the life of an endpoint'

/** What a merged Launch configuration may not change. */
export const launchChangeProblems = (
  before: LaunchVendorConfiguration,
  after: LaunchVendorConfiguration,
): RuleProblem[] =>
  failing([[launchEndpointType(before) !== launchEndpointType(after), 'model_infra.endpoint_type', FIXED]])

/** The frameworks whose endpoints LLM Engine updates. */
const UPDATABLE = ['vllm', 'sglang', 'deepspeed', 'text_generation_inference']

/** What a merged LLM Engine configuration may not change. */
export const llmEngineChangeProblems = (
  before: LlmEngineVendorConfiguration,
  after: LlmEngineVendorConfiguration,
): RuleProblem[] => {
  const framework = after.inference_framework ?? 'vllm'
  return failing([
    [(before.inference_framework ?? 'vllm') !== framework, 'inference_framework', FIXED],
    [!UPDATABLE.includes(framework), 'inference_framework', 'is one whose models the vendor cannot change'],
    [(before.endpoint_type ?? 'streaming') !== (after.endpoint_type ?? 'streaming'), 'endpoint_type', FIXED],
    [(before.nodes_per_worker ?? 1) !== (after.nodes_per_worker ?? 1), 'nodes_per_worker', FIXED],
  ])
}
