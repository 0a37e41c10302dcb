import { memberOf, wantedWorkers, withoutNulls, type Configuration, type VendorLabels } from './configuration.ts'
import { stamp } from './endpoint-view.ts'
import type { Spec } from './vendor.ts'

/** Fields of ours that go to the vendor under another name, or never. */
const OURS = new Set(['model', 'name', 'metadata', 'labels', 'env_vars'])

/** Fields the vendor cannot change after the create. */
const FIXED = new Set(['endpoint_type', 'nodes_per_worker'])

type Hardware = Readonly<Record<'gpus' | 'gpu_type' | 'cpus' | 'memory' | 'storage' | 'nodes_per_worker', unknown>>

/** More than this many GPUs do not come with more of the rest: every machine of the vendor has that much. */
const SHARES = 4

/** What one worker gets where a configuration leaves it open, for each of its GPUs: what an 8B model needs on an A10. */
const defaultHardware = (gpus: number): Hardware => {
  const shares = Math.min(gpus, SHARES)
  return {
    gpus,
    gpu_type: 'nvidia-ampere-a10',
    cpus: 10 * shares,
    memory: `${24 * shares}Gi`,
    storage: `${80 * shares}Gi`,
    nodes_per_worker: 1,
  }
}

/** Asking for any of these asks for hardware; several shards are as many GPUs. */
const HARDWARE = ['gpus', 'gpu_type', 'cpus', 'memory', 'storage', 'num_shards', 'nodes_per_worker']

/** The vendor infers hardware from the model when none is asked for, and refuses half of it: then we complete it. */
const hardware = (configuration: Configuration): Configuration => {
  const given = withoutNulls(configuration)
  if (!HARDWARE.some((name) => name in given)) return {}
  const gpus = Number(given['gpus'] ?? given['num_shards'] ?? 1)
  return defaultHardware(Number.isInteger(gpus) && gpus > 0 ? gpus : 1)
}

const without = (members: Configuration, names: ReadonlySet<string>): Configuration =>
  Object.fromEntries(Object.entries(members).filter(([name]) => !names.has(name)))

/**
 * A create, without the name. The configuration is open: what this vendor knows and we do not passes through.
 *
 * @param variables the environment, credentials resolved
 */
export const createBody = (
  spec: Spec,
  configuration: Configuration,
  variables: Readonly<Record<string, string>>,
  labels: VendorLabels,
): Configuration => ({
  source: 'hugging_face',
  inference_framework: 'vllm',
  num_shards: configuration['gpus'] ?? 1,
  endpoint_type: 'streaming',
  min_workers: 1,
  max_workers: Math.max(1, wantedWorkers(configuration)),
  per_worker: 2,
  ...hardware(configuration),
  // The vendor would make it public.
  public_inference: false,
  ...withoutNulls(without(configuration, OURS)),
  model_name: configuration['model'],
  ...(Object.keys(variables).length > 0 && { env_vars: variables }),
  labels: { ...labels, ...memberOf(configuration, 'labels') },
  metadata: { ...memberOf(configuration, 'metadata'), ...stamp(spec) },
})

/** An update: what is left out stays as it was, so these say that they are to be cleared. */
export const updateBody = (...create: Parameters<typeof createBody>): Configuration => ({
  quantize: null,
  checkpoint_path: null,
  chat_template_override: null,
  ...without(createBody(...create), FIXED),
})
