import { expect, test } from 'vitest'
import { LABELS, LLM, llmBody, stage } from '../test-vendor.ts'

test('hardware that is not given is inferred from the size in the name, and the shards with it', async () => {
  await using it = await stage({ default_profile: 'instant' })
  await it.ask('POST', LLM, llmBody({ model_name: 'llama-3-70b' }))
  const { body } = await it.ask('GET', `${LLM}/llm-1`)
  expect(body).toMatchObject({ num_shards: 2, spec: { resource_state: { gpus: 2, gpu_type: 'nvidia-hopper-h100' } } })
})

test('a name without a size is refused by a strict server only', async () => {
  await using it = await stage()
  expect((await it.ask('POST', LLM, llmBody({ model_name: 'gpt' }))).status).toBe(200)
  it.sim.configure({ server: { strict_models: true, scale_from_zero: true } })
  expect(await it.ask('POST', LLM, llmBody({ name: 'llm-2', model_name: 'gpt' }))).toMatchObject({
    status: 400,
    body: { detail: 'Unable to infer number of parameters for gpt.' },
  })
  expect((await it.ask('POST', LLM, llmBody({ name: 'llm-3', min_workers: 0 }))).status).toBe(200)
})

test('the answer has the body of the vendor, framework arguments kept and unknown keys ignored', async () => {
  await using it = await stage({ default_profile: 'instant' })
  const created = await it.ask('POST', LLM, llmBody({ max_model_len: 4096, env_vars: { A: 'b' }, seed: null }))
  expect(created.body).toEqual({ endpoint_creation_task_id: expect.stringMatching(/^[0-9a-f-]{36}$/) })
  const { body } = await it.ask('GET', `${LLM}/llm-1`)
  expect(body).toMatchObject({
    id: expect.stringMatching(/^end_[0-9a-v]{20}$/),
    model_name: 'llama-3-8b-instruct',
    source: 'hugging_face',
    inference_framework: 'vllm',
    inference_framework_image_tag: '2026.06',
    quantize: null,
    spec: {
      endpoint_type: 'streaming',
      bundle_name: 'llm-1',
      status_reason: null,
      labels: LABELS,
      public_inference: false,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      deployment_state: { min_workers: 1, max_workers: 2, per_worker: 2, available_workers: 1, unavailable_workers: 0 },
    },
  })
  expect(body.spec.metadata).toMatchObject({
    model_generation: '1',
    _llm: { vllm_additional_args: { max_model_len: 4096 } },
  })
  expect(JSON.stringify(body)).not.toContain('env_vars')
})
