import { isFacts } from './answers.ts'
import { wantedWorkers, withoutNulls, type Configuration, type VendorLabels } from './configuration.ts'
import { stamp } from './endpoint-view.ts'
import type { Spec } from './vendor.ts'

/** Whether the configuration is to be served as a stream, which the vendor does with a bundle flavour of its own. */
export const streams = (image: Configuration, { endpoint_type }: Configuration): boolean => {
  const command = image['streaming_command']
  return endpoint_type === 'streaming' || (endpoint_type === undefined && Array.isArray(command) && command.length > 0)
}

/** The kind of endpoint; it is fixed by the create. */
export const endpointType = (image: Configuration, { endpoint_type }: Configuration): unknown =>
  endpoint_type ?? (streams(image, {}) ? 'streaming' : 'sync')

/** What creates and updates of an endpoint have in common. */
export const endpointBody = (spec: Spec, image: Configuration, infra: Configuration, labels: VendorLabels) => {
  const { endpoint_type: _fixed, labels: own, ...given } = withoutNulls(infra)
  return {
    cpus: 3,
    memory: '8Gi',
    storage: '16Gi',
    gpus: 0,
    min_workers: 1,
    max_workers: Math.max(1, wantedWorkers(infra)),
    per_worker: streams(image, infra) ? 1 : 10,
    public_inference: false,
    ...given,
    labels: { ...labels, ...(isFacts(own) ? own : {}) },
    // An update replaces the metadata, so the whole of it is sent.
    metadata: stamp(spec),
  }
}

const READINESS_DELAY_SECONDS = 120

/**
 * What runs, as one of the vendor's bundle flavours. Always in the same order, so that equal contents have equal text.
 *
 * @param variables the environment, credentials resolved
 */
export const bundleFlavor = (
  image: Configuration,
  variables: Readonly<Record<string, string>>,
  streaming: boolean,
) => ({
  flavor: streaming ? 'streaming_enhanced_runnable_image' : 'runnable_image',
  repository: `${String(image['registry'])}/${String(image['repository'])}`,
  tag: image['tag'],
  command: image['command'],
  protocol: 'http',
  env: Object.fromEntries(Object.entries(variables).toSorted(([one], [other]) => (one < other ? -1 : 1))),
  predict_route: image['predict_route'] ?? '/predict',
  healthcheck_route: image['healthcheck_route'] ?? '/readyz',
  readiness_initial_delay_seconds: image['readiness_delay'] ?? READINESS_DELAY_SECONDS,
  ...(streaming && {
    streaming_command: image['streaming_command'] ?? image['command'],
    streaming_predict_route: image['streaming_predict_route'] ?? '/stream',
  }),
})
