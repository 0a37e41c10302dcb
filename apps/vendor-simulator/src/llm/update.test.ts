import { expect, test } from 'vitest'
import { HARDWARE, LABELS, LLM, llmBody, stage } from '../test-vendor.ts'

const PATH = `${LLM}/llm-1`

const ready = async () => {
  const it = await stage({ default_profile: 'instant' })
  const given = { quantize: 'awq', checkpoint_path: 's3://bucket/model', max_model_len: 4096 }
  await it.ask('POST', LLM, llmBody({ ...HARDWARE, ...given, metadata: { kept: true, model_generation: '1' } }))
  return it
}

test('metadata merges', async () => {
  await using it = await ready()
  await it.ask('PUT', PATH, { metadata: { model_generation: '2', added: 1 } })
  const { metadata } = (await it.ask('GET', PATH)).body.spec
  expect(metadata).toMatchObject({
    kept: true,
    added: 1,
    model_generation: '2',
    _llm: { model_name: 'llama-3-8b-instruct' },
  })
})

test('what is absent stays, and null clears what can be cleared', async () => {
  await using it = await ready()
  await it.ask('PUT', PATH, { quantize: null, max_workers: 5, seed: 7 })
  const { body } = await it.ask('GET', PATH)
  expect(body).toMatchObject({ quantize: null, checkpoint_path: 's3://bucket/model', num_shards: 2 })
  expect(body.spec.deployment_state).toMatchObject({ min_workers: 1, max_workers: 5, per_worker: 2 })
  expect(body.spec.metadata._llm.vllm_additional_args).toEqual({ max_model_len: 4096, seed: 7 })
})

test('a value of 0 counts as not given', async () => {
  await using it = await ready()
  expect((await it.ask('PUT', PATH, { gpus: 0, cpus: 0, storage: 0 })).status).toBe(200)
  expect((await it.ask('GET', PATH)).body.spec.resource_state).toMatchObject({ gpus: 2, cpus: 20, storage: '200Gi' })
})

test('labels are replaced, and endpoint_type and nodes_per_worker do not change', async () => {
  await using it = await ready()
  const labels = { ...LABELS, team: 'other' }
  expect((await it.ask('PUT', PATH, { labels, endpoint_type: 'sync', nodes_per_worker: 4 })).status).toBe(200)
  const { spec } = (await it.ask('GET', PATH)).body
  expect(spec).toMatchObject({ labels, endpoint_type: 'streaming', resource_state: { nodes_per_worker: 1 } })
})

test('a new bundle is made only for what a bundle holds', async () => {
  await using it = await ready()
  const before = it.sim.endpoint('llm-1')?.bundle_id
  await it.ask('PUT', PATH, { max_workers: 3 })
  expect(it.sim.endpoint('llm-1')?.bundle_id).toBe(before)
  await it.ask('PUT', PATH, { model_name: 'llama-3-8b' })
  expect(it.sim.endpoint('llm-1')?.bundle_id).not.toBe(before)
})

test.each([
  ['a reserved metadata key', { metadata: { _llm: {} } }, 400],
  ['labels without a team', { labels: { product: 'p' } }, 400],
  ['shards other than gpus', { num_shards: 4 }, 400],
  ['min_workers 0', { min_workers: 0 }, 400],
  ['too many workers', { max_workers: 999 }, 400],
  ['a quantization of another framework', { quantize: 'bitsandbytes' }, 400],
  ['an image that is nowhere', { inference_framework_image_tag: 'missing' }, 404],
  ['an unknown hook', { post_inference_hooks: ['email'] }, 500],
  ['a framework that cannot be updated', { inference_framework: 'lightllm' }, 422],
  ['workers that are no number', { max_workers: 'x' }, 422],
])('an update with %s is refused', async (_, body, status) => {
  await using it = await ready()
  expect((await it.ask('PUT', PATH, body)).status).toBe(status)
  expect(it.sim.endpoint('llm-1')?.operations).toHaveLength(1)
})

test('an update of nothing there is 404', async () => {
  await using it = await ready()
  expect(await it.ask('PUT', `${LLM}/other`, {})).toMatchObject({
    status: 404,
    body: { detail: 'The specified LLM endpoint could not be found.' },
  })
})
