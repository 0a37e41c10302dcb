import { expect, test } from 'vitest'
import { HARDWARE, LABELS, LLM, llmBody, stage } from '../test-vendor.ts'

const UNCAUGHT = { error: 'Internal error occurred. Our team has been notified.' }
const ALL_OR_NONE =
  'All hardware spec fields (gpus, gpu_type, cpus, memory, storage, nodes_per_worker) must be provided if any hardware spec field is missing.'
const STREAMING_ONLY = /^Creating endpoint type sync is not allowed/
const detail = (text: string | RegExp) => ({ detail: typeof text === 'string' ? text : expect.stringMatching(text) })

const REFUSED: [row: string, changes: object, status: number, body: object][] = [
  ['a missing team label', { labels: { product: 'p' } }, 400, detail(/^Missing label 'team' in labels/)],
  ['a missing product label', { labels: { team: 't' } }, 400, detail(/^Missing label 'product' in labels/)],
  ['a restricted label', { labels: { ...LABELS, user_id: 'u' } }, 400, detail("Cannot specify 'user_id' in labels")],
  [
    'a label Kubernetes refuses',
    { labels: { ...LABELS, a: 'x y' } },
    400,
    detail(/^Invalid label value x y, must match/),
  ],
  ['min_workers 0 for streaming', { min_workers: 0 }, 400, detail('Requested min workers 0 too low')],
  ['max_workers above 250', { max_workers: 251 }, 400, detail('Requested max workers 251 too high')],
  ['hardware given in part', { gpus: 1 }, 400, detail(ALL_OR_NONE)],
  ['hardware of 0', { ...HARDWARE, gpus: 0 }, 500, UNCAUGHT],
  ['an A100e', { ...HARDWARE, gpu_type: 'nvidia-ampere-a100e' }, 400, detail(/request for H100/)],
  [
    'shards other than gpus',
    { ...HARDWARE, num_shards: 1 },
    400,
    detail('Num shard 1 must be equal to the number of GPUs 2.'),
  ],
  [
    'one shard of deepspeed',
    { inference_framework: 'deepspeed', endpoint_type: 'sync' },
    400,
    detail('DeepSpeed requires more than 1 GPU.'),
  ],
  ['bitsandbytes on vllm', { quantize: 'bitsandbytes' }, 400, detail(/^Quantization bitsandbytes is not supported/)],
  [
    'awq elsewhere',
    { quantize: 'awq', inference_framework: 'text_generation_inference' },
    400,
    detail(/^Quantization awq is not/),
  ],
  [
    'a long chat template',
    { chat_template_override: 'x'.repeat(10_001) },
    400,
    detail('Chat template length must be less than 10000.'),
  ],
  [
    'a chat template on sglang',
    { chat_template_override: 'x', inference_framework: 'sglang' },
    400,
    detail(/^Chat template is only/),
  ],
  ['vllm that does not stream', { endpoint_type: 'sync' }, 400, detail(STREAMING_ONLY)],
  ['no endpoint type, which is sync', { endpoint_type: undefined }, 400, detail(STREAMING_ONLY)],
  [
    'tgi that does not stream',
    { endpoint_type: 'sync', inference_framework: 'text_generation_inference' },
    400,
    detail(STREAMING_ONLY),
  ],
  [
    'lightllm that does not stream',
    { endpoint_type: 'sync', inference_framework: 'lightllm' },
    400,
    detail(STREAMING_ONLY),
  ],
  [
    'tensorrt_llm that does not stream',
    { endpoint_type: 'sync', inference_framework: 'tensorrt_llm' },
    400,
    detail(STREAMING_ONLY),
  ],
  [
    'an image that is nowhere',
    { inference_framework_image_tag: 'missing-1' },
    404,
    detail('The specified docker image could not be found.'),
  ],
  [
    'several nodes of another framework',
    { ...HARDWARE, nodes_per_worker: 2, inference_framework: 'sglang' },
    400,
    detail(/^Multinode/),
  ],
  [
    'a checkpoint elsewhere',
    { checkpoint_path: 'https://example.com/x' },
    400,
    detail(/^Only S3, Azure Blob Storage, and GCS/),
  ],
  ['a tar file', { checkpoint_path: 's3://bucket/x.tar' }, 400, detail(/^Tar files are not supported/)],
  [
    'a checkpoint without weights',
    { checkpoint_path: 's3://bucket/no-safetensors' },
    400,
    detail(/^No safetensors found/),
  ],
  ['a model without a checkpoint', { model_name: 'unknown-model-7b' }, 500, UNCAUGHT],
  [
    'a model too large for any machine',
    { model_name: 'giant-1000b' },
    400,
    detail('Unable to infer hardware for giant-1000b.'),
  ],
  ['billing tags without their keys', { billing_tags: { product: 'x' } }, 500, UNCAUGHT],
  ['an unknown hook', { post_inference_hooks: ['email'] }, 500, UNCAUGHT],
  ['too many cpus', { ...HARDWARE, cpus: 191 }, 400, detail(/^Requested cpus=192 too high/)],
  ['too much memory', { ...HARDWARE, memory: '2000Gi' }, 400, detail(/^Requested memory=\d+ too high/)],
  ['too much storage', { ...HARDWARE, storage: '1300Gi' }, 400, detail(/^Requested storage=\d+ too high/)],
  [
    'cpus that are no quantity',
    { ...HARDWARE, cpus: 'many' },
    400,
    detail("Requested cpus='many' is incorrectly formatted"),
  ],
  [
    'memory that is no quantity',
    { ...HARDWARE, memory: '8GB' },
    400,
    detail("Requested memory='8GB' is incorrectly formatted"),
  ],
  [
    'an unknown profile',
    { metadata: { 'simulator-profile': 'odd' } },
    400,
    detail(/^simulator-profile odd is unknown; there are happy/),
  ],
]

test.each(REFUSED)('%s is refused', async (_, changes, status, body) => {
  await using it = await stage()
  expect(await it.ask('POST', LLM, llmBody(changes))).toMatchObject({ status, body })
  expect(it.sim.endpoints()).toEqual([])
})

const MALFORMED: [row: string, changes: object, type: string, loc: (string | number)[], msg: string][] = [
  ['a missing name', { name: undefined }, 'missing', ['name'], 'Field required'],
  ['missing metadata', { metadata: undefined }, 'missing', ['metadata'], 'Field required'],
  ['a name that is no text', { name: 7 }, 'string_type', ['name'], 'Input should be a valid string'],
  [
    'workers that are no number',
    { min_workers: 'many' },
    'int_type',
    ['min_workers'],
    'Input should be a valid integer',
  ],
  ['metadata that is no object', { metadata: 'x' }, 'dict_type', ['metadata'], 'Input should be a valid dictionary'],
  [
    'hooks that are no list',
    { post_inference_hooks: 'x' },
    'list_type',
    ['post_inference_hooks'],
    'Input should be a valid list',
  ],
  [
    'a flag that is no boolean',
    { high_priority: 'x' },
    'bool_type',
    ['high_priority'],
    'Input should be a valid boolean',
  ],
  [
    'a label that is no text',
    { labels: { ...LABELS, a: 1 } },
    'string_type',
    ['labels', 'a'],
    'Input should be a valid string',
  ],
  ['an unknown quantization', { quantize: 'fp8' }, 'enum', ['quantize'], "Input should be 'bitsandbytes' or 'awq'"],
  ['an unknown source', { source: 'github' }, 'enum', ['source'], "Input should be 'hugging_face'"],
  [
    'an unknown endpoint type',
    { endpoint_type: 'batch' },
    'enum',
    ['endpoint_type'],
    "Input should be 'async', 'sync' or 'streaming'",
  ],
  [
    'a timeout of 0',
    { queue_message_timeout_seconds: 0 },
    'greater_than_equal',
    ['queue_message_timeout_seconds'],
    'Input should be greater than or equal to 1',
  ],
  [
    'a timeout above 12 hours',
    { queue_message_timeout_seconds: 43_201 },
    'less_than_equal',
    ['queue_message_timeout_seconds'],
    'Input should be less than or equal to 43200',
  ],
]

test.each(MALFORMED)('%s is a 422 that names the field', async (_, changes, type, loc, msg) => {
  await using it = await stage()
  const { status, body } = await it.ask('POST', LLM, llmBody(changes))
  expect(status).toBe(422)
  expect(body.detail).toMatchObject([{ type, loc: ['body', 'vllm', ...loc], msg }])
})

test('an unknown framework is a 422 about the tag', async () => {
  await using it = await stage()
  expect(await it.ask('POST', LLM, llmBody({ inference_framework: 'llama_cpp' }))).toMatchObject({
    status: 422,
    body: { detail: [{ type: 'union_tag_invalid', loc: ['body'] }] },
  })
})

test.each([
  ['no body', '', 'missing', ['body']],
  ['no JSON', '{"name":', 'json_invalid', ['body', 0]],
])('%s is a 422', async (_, body, type, loc) => {
  await using it = await stage()
  const headers = { authorization: 'Bearer key' }
  const response = await fetch(it.sim.url + LLM, { method: 'POST', headers, body })
  expect([response.status, await response.json()]).toMatchObject([422, { detail: [{ type, loc }] }])
})
