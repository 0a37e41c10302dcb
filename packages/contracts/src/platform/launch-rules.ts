import { envVarProblems } from './env-vars.ts'
import { labelProblems } from './label-rules.ts'
import type { LaunchVendorConfiguration } from './launch-configuration.ts'
import { resourceProblems } from './resource-rules.ts'
import { failing, type Rule, type RuleProblem } from './rule.ts'
import { scaleProblems, workerProblems } from './worker-rules.ts'

type Image = LaunchVendorConfiguration['model_image']
type Infra = LaunchVendorConfiguration['model_infra']

/** Docker's grammar of image references: distribution/reference. */
const REGISTRY = /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:\d{1,5})?(\/[a-z0-9]+([._-]+[a-z0-9]+)*)*$/
const REPOSITORY = /^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(\/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$/
const TAG = /^\w[\w.-]{0,127}$/

const imageProblems: Rule<Image> = ({ registry, repository, tag, command, streaming_command, env_vars }) => [
  ...failing([
    [!REGISTRY.test(registry), 'registry', 'is no name of an image registry'],
    [!REPOSITORY.test(repository), 'repository', 'is no name of an image repository'],
    [!TAG.test(tag), 'tag', 'is no tag of an image'],
    [command.length === 0 && !streaming_command?.length, 'command', 'must not be empty without a streaming_command'],
    [streaming_command?.length === 0, 'streaming_command', 'must not be empty'],
  ]),
  ...envVarProblems(env_vars),
]

const infraProblems: Rule<Infra> = (infra) => [
  ...failing([
    [infra.gpus && infra.gpu_type === undefined, 'gpu_type', 'is needed with gpus'],
    [infra.gpu_type !== undefined && !infra.gpus, 'gpus', 'must be at least 1 with a gpu_type'],
  ]),
  ...workerProblems(infra),
  ...resourceProblems(infra),
  ...labelProblems(infra.labels),
]

/** The kind of endpoint a configuration asks for, in words or by what it brings along. */
export const launchEndpointType = ({ model_image, model_infra }: LaunchVendorConfiguration): string =>
  model_infra.endpoint_type ?? (model_image.streaming_command?.length ? 'streaming' : 'sync')

const streamingProblems: Rule<LaunchVendorConfiguration> = (configuration) => {
  if (launchEndpointType(configuration) !== 'streaming') return []
  const { model_image, model_infra } = configuration
  const { per_worker = 1 } = model_infra
  return failing([
    [!model_image.streaming_command, 'model_image.streaming_command', 'is needed for a streaming endpoint'],
    [per_worker !== 1, 'model_infra.per_worker', 'must be 1 for a streaming endpoint'],
  ])
}

const under = (part: string, problems: RuleProblem[]): RuleProblem[] =>
  problems.map(({ path, message }) => ({ path: [part, ...path], message }))

/** What Launch would refuse about a whole configuration, given or merged. */
export const launchProblems: Rule<LaunchVendorConfiguration> = (configuration) => [
  ...under('model_image', imageProblems(configuration.model_image)),
  ...under('model_infra', infraProblems(configuration.model_infra)),
  ...under('model_infra', scaleProblems(configuration.model_infra, launchEndpointType(configuration))),
  ...streamingProblems(configuration),
]
