import { describe, expect, test } from 'vitest'
import { JsonText } from '../json-text.ts'
import { refusal } from '../refusal.ts'
import { isOfLaunch, isOfLlmEngine } from './configuration-change.ts'
import { CreateModelRequest } from './create-model.ts'
import { InferenceModel } from './model.ts'
import { UpdateModelRequest } from './update-model.ts'
import { HostedModelVendor, InferenceModelStatus, InferenceModelVendor } from './vendors.ts'

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

describe('vendors and states', () => {
  test('have the names and the order of the API family', () => {
    expect(InferenceModelVendor.options).toEqual(
      'openai cohere vertex_ai anthropic azure gemini launch llmengine model_zoo bedrock xai fireworks_ai'.split(' '),
    )
    expect(HostedModelVendor.options).toEqual(
      'openai cohere vertex_ai anthropic azure gemini model_zoo bedrock xai fireworks_ai'.split(' '),
    )
    expect(InferenceModelStatus.options).toEqual(['failed', 'ready', 'deploying', 'deployment_timeout'])
  })
})

describe('creating a model', () => {
  test.each<[object, object]>([
    [launch(), { model_vendor: 'launch', model_type: 'generic', on_conflict: 'error' }],
    [
      { ...launch(), model_vendor: null, model_type: null, on_conflict: null },
      { model_vendor: 'launch', model_type: 'generic' },
    ],
    [llm(), { model_vendor: 'llmengine', model_type: 'chat_completion', on_conflict: 'error' }],
    [
      { ...llm(), model_vendor: 'llmengine', on_conflict: 'update' },
      { model_vendor: 'llmengine', on_conflict: 'update' },
    ],
    [
      { name: 'm', model_vendor: 'model_zoo', model_type: 'completion' },
      { model_vendor: 'model_zoo', model_type: 'completion' },
    ],
    [{ name: 'm', model_vendor: 'xai', model_type: 'generic', vendor_configuration: null }, { model_vendor: 'xai' }],
  ])('%# resolves to its variant', (body, expected) => {
    expect(CreateModelRequest.parse(body)).toMatchObject(expected)
  })

  test.each<[unknown, string]>([
    [{ name: 'm' }, 'model_vendor'],
    [{ name: 'm', vendor_configuration: {} }, 'model_vendor'],
    [{ name: 'm', model_vendor: 'nobody' }, 'model_vendor'],
    [{ ...llm(), model_vendor: 'openai', model_type: 'chat_completion' }, 'vendor_configuration'],
    [{ ...llm(), model_vendor: 'launch' }, 'vendor_configuration.model_image'],
    [{ ...launch(), model_type: 'completion' }, 'model_type'],
    [{ ...llm(), model_type: 'generic' }, 'model_type'],
    [{ name: 'm', model_vendor: 'openai' }, 'model_type'],
    [{ ...llm(), on_conflict: 'swap' }, 'on_conflict'],
    [{ ...llm(), name: '' }, 'name'],
    [[], ''],
    [null, ''],
  ])('%# is refused at the right place', (body, path) => {
    expect(refusal(CreateModelRequest, body)).toBe(path)
  })

  test('keeps what an open configuration adds, and refuses what a closed one does not know', () => {
    const dtype = new JsonText('1.0')
    expect(CreateModelRequest.parse(llm({ dtype, nested: { a: 1 } }))).toMatchObject({
      vendor_configuration: { model: 'llama-3-8b', dtype, nested: { a: 1 } },
    })
    expect(refusal(CreateModelRequest, launch({ tagg: 1 }))).toBe('vendor_configuration.model_image')
    expect(refusal(CreateModelRequest, launch({}, { gpu: 1 }))).toBe('vendor_configuration.model_infra')
  })
})

describe('updating a model', () => {
  test.each<[object, object]>([
    [{}, { change: 'metadata' }],
    [{ name: null, vendor_configuration: null, change: 'name' }, { change: 'metadata' }],
    [{ model_metadata: { a: 1 } }, { change: 'metadata', model_metadata: { a: 1 } }],
    [{ name: 'n' }, { change: 'name', name: 'n', on_conflict: 'error' }],
    [
      { name: 'n', on_conflict: 'swap' },
      { change: 'name', name: 'n', on_conflict: 'swap' },
    ],
    [{ vendor_configuration: {} }, { change: 'configuration', vendor_configuration: {} }],
    [
      { vendor_configuration: { model_image: { tag: '2', env_vars: null } }, model_metadata: {} },
      {
        change: 'configuration',
        vendor_configuration: { model_image: { tag: '2', env_vars: null } },
        model_metadata: {},
      },
    ],
    [
      { vendor_configuration: { model: null, quantize: null, extra: null } },
      { change: 'configuration', vendor_configuration: { quantize: null, extra: null } },
    ],
  ])('%j is %j', (body, expected) => {
    expect(UpdateModelRequest.parse(body)).toEqual(expected)
  })

  test.each([
    { name: 'n', vendor_configuration: {} },
    { name: 'n', model_metadata: {} },
    { on_conflict: 'swap' },
    { name: 'n', on_conflict: 'update' },
    { name: '' },
    { vendor_configuration: [] },
    { vendor_configuration: { model_image: {}, extra: 1 } },
    { vendor_configuration: { model_image: { tagg: 1 } } },
    { vendor_configuration: { gpus: 'many' } },
    { model_metadata: [] },
  ])('%j is refused', (body) => {
    expect(UpdateModelRequest.safeParse(body).success).toBe(false)
  })

  test.each<[object, boolean, boolean]>([
    [{}, true, true],
    [{ model_image: {} }, true, false],
    [{ model_infra: { gpus: 1 } }, true, false],
    [{ gpus: 1 }, false, true],
    [{ model: undefined, extra: 1 }, false, true],
  ])('%j may be of Launch: %s, of LLM Engine: %s', (configuration, ofLaunch, ofLlmEngine) => {
    expect([isOfLaunch(configuration), isOfLlmEngine(configuration)]).toEqual([ofLaunch, ofLlmEngine])
  })
})

describe('a model in an answer', () => {
  const model = {
    id: 'model_1',
    created_at: '2026-11-21T09:30:00Z',
    created_by_identity_type: 'user',
    created_by_user_id: 'user_1',
    model_type: 'generic',
    model_vendor: 'launch',
    name: 'm',
    status: 'ready',
  }

  test.each([
    {},
    { object: 'model', model_availability: 'available', status_reason: 'x', model_metadata: {} },
    { vendor_configuration: launch().vendor_configuration },
    { vendor_configuration: { model: 'x', anything: [1] } },
  ])('%# comes out of its schema as it went in', (fields) => {
    expect(InferenceModel.parse({ ...model, ...fields })).toStrictEqual({ ...model, ...fields })
  })
})
