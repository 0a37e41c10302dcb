import { describe, expect, test } from 'vitest'
import { JsonText } from '../json-text.ts'
import { refusal } from '../refusal.ts'
import { launchChangeProblems, llmEngineChangeProblems } from './configuration-change.ts'
import { CreateModelRequest } from './create-model.ts'
import { credentialNameOf } from './env-vars.ts'

const model_image = {
  command: ['serve'],
  registry: 'registry.example.com:5000',
  repository: 'search/ranker',
  tag: '1.2',
}
const launch = (image: object = {}, infra: object = {}) => ({
  name: 'm',
  vendor_configuration: { model_image: { ...model_image, ...image }, model_infra: infra },
})
const llm = (fields: object = {}) => ({ name: 'm', vendor_configuration: { model: 'llama-3-8b', ...fields } })

describe('what Launch would refuse', () => {
  test.each<[object, object, string | null]>([
    [{}, { min_workers: 1, max_workers: 2, per_worker: 4, cpus: '500m', memory: '8Gi', storage: '16Gi' }, null],
    [{ streaming_command: ['s'] }, { endpoint_type: 'streaming', per_worker: 1 }, null],
    [{ command: [], streaming_command: ['s'] }, {}, null],
    [{ env_vars: { A: 'x', B: 1, C: true, D: { $credential: 'n' } } }, {}, null],
    [{ env_vars: new JsonText('{"A":"x"}') }, {}, null],
    [{ command: [] }, {}, 'model_image.command'],
    [{ registry: 'http://x' }, {}, 'model_image.registry'],
    [{ repository: 'Upper' }, {}, 'model_image.repository'],
    [{ tag: '-x' }, {}, 'model_image.tag'],
    [{ predict_route: 'predict' }, {}, 'model_image.predict_route'],
    [{ env_vars: { 'A B': 'x' } }, {}, 'model_image.env_vars.A B'],
    [{ env_vars: { A: null } }, {}, 'model_image.env_vars.A'],
    [{ env_vars: { A: ['x'] } }, {}, 'model_image.env_vars.A'],
    [{ env_vars: { A: { $credential: '' } } }, {}, 'model_image.env_vars.A'],
    [{ env_vars: { A: { $credential: 'n', x: 1 } } }, {}, 'model_image.env_vars.A'],
    [{ env_vars: { A: 'a\0' } }, {}, 'model_image.env_vars.A'],
    [{}, { gpus: 1 }, 'model_infra.gpu_type'],
    [{}, { gpu_type: 'nvidia-tesla-t4' }, 'model_infra.gpus'],
    [{}, { gpu_type: 'tpu', gpus: 1 }, 'model_infra.gpu_type'],
    [{}, { min_workers: 3, max_workers: 2 }, 'model_infra.min_workers'],
    [{}, { max_workers: 251 }, 'model_infra.max_workers'],
    [{}, { max_workers: 0 }, 'model_infra.max_workers'],
    [{}, { min_workers: -1 }, 'model_infra.min_workers'],
    [{}, { per_worker: 0 }, 'model_infra.per_worker'],
    [{}, { memory: 'lots' }, 'model_infra.memory'],
    [{}, { labels: { user_id: 'x' } }, 'model_infra.labels.user_id'],
    [{}, { labels: { team: 'a b' } }, 'model_infra.labels.team'],
    [{}, { labels: { 'example.com/team': '' } }, null],
    [{}, { labels: { team: 'x'.repeat(64) } }, 'model_infra.labels.team'],
    [{}, { endpoint_type: 'streaming' }, 'model_image.streaming_command'],
    [{ streaming_command: ['s'] }, { endpoint_type: 'streaming', per_worker: 2 }, 'model_infra.per_worker'],
    [{ streaming_command: ['s'] }, { per_worker: 2 }, 'model_infra.per_worker'],
    [{ streaming_command: ['s'] }, { endpoint_type: 'sync', per_worker: 2 }, null],
    [{}, { endpoint_type: 'async', min_workers: 0 }, null],
    [{}, { min_workers: 0 }, 'model_infra.min_workers'],
    [{}, { cpus: 6, memory: '28Gi', storage: '639Gi' }, null],
    [{}, { cpus: '6500m' }, 'model_infra.cpus'],
    [{}, { cpus: '0' }, 'model_infra.cpus'],
    [{}, { cpus: '8Gi' }, 'model_infra.cpus'],
    [{}, { memory: '29Gi' }, 'model_infra.memory'],
    [{}, { memory: '500m' }, 'model_infra.memory'],
    [{}, { storage: '640Gi' }, 'model_infra.storage'],
    [{}, { gpus: 1, gpu_type: 'nvidia-hopper-h100', cpus: 190, memory: '1998Gi', storage: '1299Gi' }, null],
  ])('image %j with infra %j: %j', (image, infra, path) => {
    expect(refusal(CreateModelRequest, launch(image, infra))).toBe(path && `vendor_configuration.${path}`)
  })
})

describe('what LLM Engine would refuse', () => {
  test.each<[object, string | null]>([
    [{ gpus: 2, num_shards: 2, endpoint_type: 'streaming', quantize: 'awq', source: 'hugging_face' }, null],
    [{ inference_framework: 'deepspeed', endpoint_type: 'sync', num_shards: 2 }, null],
    [{ checkpoint_path: 's3://models/x', post_inference_hooks: ['billing'] }, null],
    [{ gpus: 2, num_shards: 1 }, 'num_shards'],
    [{ gpus: 0 }, 'gpus'],
    [{ inference_framework: 'deepspeed', gpus: 1 }, 'num_shards'],
    [{ inference_framework: 'own' }, 'inference_framework'],
    [{ endpoint_type: 'sync' }, 'endpoint_type'],
    [{ inference_framework: 'sglang', endpoint_type: 'batch' }, 'endpoint_type'],
    [{ quantize: 'bitsandbytes' }, 'quantize'],
    [{ source: 'elsewhere' }, 'source'],
    [{ gpu_type: 'tpu' }, 'gpu_type'],
    [{ gpu_type: 'nvidia-ampere-a100e' }, 'gpu_type'],
    [{ post_inference_hooks: ['email'] }, 'post_inference_hooks'],
    [{ checkpoint_path: '/tmp/x' }, 'checkpoint_path'],
    [{ checkpoint_path: 's3://models/x.tar' }, 'checkpoint_path'],
    [{ chat_template_override: 'x'.repeat(10_001) }, 'chat_template_override'],
    [{ chat_template_override: 'x', inference_framework: 'sglang' }, 'chat_template_override'],
    [{ default_callback_url: 'mailto:x' }, 'default_callback_url'],
    [{ nodes_per_worker: 2, min_workers: 1, max_workers: 1 }, null],
    [{ nodes_per_worker: 2, min_workers: 1, max_workers: 2 }, 'min_workers'],
    [{ nodes_per_worker: 2, inference_framework: 'sglang', min_workers: 1, max_workers: 1 }, 'nodes_per_worker'],
    [{ max_workers: 251 }, 'max_workers'],
    [{ labels: { endpoint_name: 'x' } }, 'labels.endpoint_name'],
    [{ min_workers: 0 }, 'min_workers'],
    [{ min_workers: 0, endpoint_type: 'async', inference_framework: 'sglang' }, null],
    [{ inference_framework: 'deepspeed' }, 'num_shards'],
    [{ quantize: 'awq', inference_framework: 'sglang' }, 'quantize'],
    [{ quantize: 'bitsandbytes', inference_framework: 'text_generation_inference' }, null],
    [{ cpus: 63 }, 'cpus'],
    [{ cpus: 63, gpu_type: 'nvidia-hopper-h100' }, null],
    [{ memory: '249Gi' }, 'memory'],
    [{ metadata: [] }, 'metadata'],
    [{ metadata: { _llm: 1 } }, 'metadata'],
    [{ billing_tags: { product: 'p' } }, 'billing_tags'],
    [{ env_vars: { A: [] } }, 'env_vars.A'],
  ])('%j: %j', (fields, path) => {
    expect(refusal(CreateModelRequest, llm(fields))).toBe(path && `vendor_configuration.${path}`)
  })
})

describe('what a vendor keeps for the life of an endpoint', () => {
  const infra = (fields: object, image: object = {}) => launch(image, fields).vendor_configuration
  const engine = (fields: object) => llm(fields).vendor_configuration

  test.each([
    [infra({}), infra({ endpoint_type: 'sync', max_workers: 5 }), 0],
    [infra({}), infra({ endpoint_type: 'async' }), 1],
    [infra({}), infra({}, { streaming_command: ['s'] }), 1],
  ])('%#: a Launch endpoint keeps its type', (before, after, problems) => {
    expect(launchChangeProblems(before, after)).toHaveLength(problems)
  })

  test.each([
    [engine({}), engine({ endpoint_type: 'streaming', nodes_per_worker: 1, model: 'other' }), 0],
    [engine({}), engine({ nodes_per_worker: 2 }), 1],
    [engine({}), engine({ inference_framework: 'sglang', endpoint_type: 'streaming' }), 1],
    [engine({ inference_framework: 'lightllm' }), engine({ inference_framework: 'lightllm', max_workers: 2 }), 1],
    [engine({ inference_framework: 'sglang', endpoint_type: 'sync' }), engine({ inference_framework: 'sglang' }), 1],
  ])('%#: an LLM Engine endpoint keeps its type, framework and nodes', (before, after, problems) => {
    expect(llmEngineChangeProblems(before, after)).toHaveLength(problems)
  })
})

test('a credential is referred to by exactly {"$credential": NAME}', () => {
  expect(credentialNameOf({ $credential: 'hugging-face' })).toBe('hugging-face')
  for (const value of ['x', null, {}, { $credential: 1 }, { $credential: 'a', b: 1 }, ['$credential']]) {
    expect(credentialNameOf(value)).toBeNull()
  }
})
