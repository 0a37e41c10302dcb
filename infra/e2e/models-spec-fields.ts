/** A row of a table of fields: a value it takes, what it is changed to where that is possible, one it refuses. */
export type FieldRow = { name: string; required?: true; value: unknown; changed?: unknown; wrong: unknown }

export const LAUNCH_IMAGE: FieldRow[] = [
  { name: 'command', required: true, value: ['serve'], changed: ['serve', '--fast'], wrong: 'serve' },
  { name: 'registry', required: true, value: 'registry.example.com', changed: 'other.example.com', wrong: 1 },
  { name: 'repository', required: true, value: 'search/ranker', changed: 'search/other', wrong: '' },
  { name: 'tag', required: true, value: '1', changed: '2', wrong: '' },
  { name: 'env_vars', value: { LEVEL: 'info', COUNT: 1.5 }, changed: { LEVEL: 'debug' }, wrong: ['LEVEL'] },
  { name: 'healthcheck_route', value: '/healthy', changed: '/ready', wrong: 'healthy' },
  { name: 'predict_route', value: '/predict', changed: '/answer', wrong: 'predict' },
  { name: 'readiness_delay', value: 1, changed: 2, wrong: 'soon' },
  { name: 'request_schema', value: { type: 'object' }, changed: { type: 'array' }, wrong: 'object' },
  { name: 'response_schema', value: { type: 'string' }, changed: { type: 'number' }, wrong: 'string' },
  { name: 'streaming_command', value: ['stream'], changed: ['stream', '-v'], wrong: 'stream' },
  { name: 'streaming_predict_route', value: '/stream', changed: '/flow', wrong: 'stream' },
]

export const LAUNCH_INFRA: FieldRow[] = [
  { name: 'cpus', value: '500m', changed: 4, wrong: true },
  { name: 'endpoint_type', value: 'sync', wrong: 'batch' },
  { name: 'gpu_type', value: 'nvidia-tesla-t4', changed: 'nvidia-ampere-a10', wrong: 'tpu' },
  { name: 'gpus', value: 1, changed: 2, wrong: 'one' },
  { name: 'high_priority', value: true, changed: false, wrong: 'yes' },
  { name: 'labels', value: { team: 'search' }, changed: { team: 'ads' }, wrong: { team: 1 } },
  { name: 'max_workers', value: 3, changed: 4, wrong: 1.5 },
  { name: 'memory', value: '4Gi', changed: '8Gi', wrong: 'much' },
  { name: 'min_workers', value: 1, changed: 2, wrong: -1 },
  { name: 'per_worker', value: 2, changed: 3, wrong: 0 },
  { name: 'public_inference', value: true, changed: false, wrong: 'no' },
  { name: 'storage', value: '10Gi', changed: '20Gi', wrong: 'much' },
]

export const LLM_ENGINE: FieldRow[] = [
  { name: 'model', required: true, value: 'llama-3-8b-instruct', changed: 'llama-3-8b', wrong: '' },
  { name: 'chat_template_override', value: '{{ messages }}', changed: '{{ last }}', wrong: 1 },
  { name: 'checkpoint_path', value: 's3://models/a', changed: 'gs://models/b', wrong: '/tmp/a' },
  { name: 'cpus', value: 8, changed: 10, wrong: '8' },
  { name: 'default_callback_url', value: 'https://example.com/a', changed: 'https://example.com/b', wrong: 'a' },
  { name: 'endpoint_type', value: 'streaming', wrong: 'sync' },
  { name: 'gpu_type', value: 'nvidia-ampere-a10', changed: 'nvidia-hopper-h100', wrong: 'tpu' },
  { name: 'gpus', value: 1, changed: 2, wrong: 1.5 },
  { name: 'high_priority', value: true, changed: false, wrong: 1 },
  { name: 'inference_framework', value: 'vllm', wrong: 'own' },
  { name: 'inference_framework_image_tag', value: '2026.05', changed: '2026.06', wrong: 1 },
  { name: 'labels', value: { team: 'search' }, changed: { team: 'ads' }, wrong: { user_id: 'x' } },
  { name: 'max_workers', value: 3, changed: 4, wrong: 251 },
  { name: 'memory', value: '20Gi', changed: '24Gi', wrong: 20 },
  { name: 'min_workers', value: 1, changed: 2, wrong: 0 },
  { name: 'nodes_per_worker', value: 1, wrong: 0 },
  { name: 'num_shards', value: 1, changed: 2, wrong: 0 },
  { name: 'per_worker', value: 2, changed: 3, wrong: 0 },
  { name: 'post_inference_hooks', value: ['billing'], changed: ['logging'], wrong: ['email'] },
  { name: 'public_inference', value: false, changed: true, wrong: 'no' },
  { name: 'quantize', value: 'awq', changed: 'awq', wrong: 'bitsandbytes' },
  { name: 'source', value: 'hugging_face', changed: 'hugging_face', wrong: 'elsewhere' },
  { name: 'storage', value: '80Gi', changed: '90Gi', wrong: '80 Gi' },
]

/** The values of all rows. */
export const valuesOf = (rows: readonly FieldRow[]): Record<string, unknown> =>
  Object.fromEntries(rows.map(({ name, value }) => [name, value]))

/** What changes in all rows that can change. */
export const changesOf = (rows: readonly FieldRow[]): Record<string, unknown> =>
  Object.fromEntries(rows.filter(({ changed }) => changed !== undefined).map(({ name, changed }) => [name, changed]))

export const without = (fields: Record<string, unknown>, name: string): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([other]) => other !== name))
