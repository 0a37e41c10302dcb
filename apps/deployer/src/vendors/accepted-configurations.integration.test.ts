import {
  EndpointType,
  GpuType,
  launchProblems,
  LaunchVendorConfiguration,
  llmEngineProblems,
  LlmEngineVendorConfiguration,
} from '@keelson/contracts/platform'
import { typeId } from '@keelson/service-kit'
import { startSimulator, type RunningSimulator } from '@keelson/vendor-simulator'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { circuitBreaker } from './circuit-breaker.ts'
import { vendorHttp } from './http.ts'
import { launch } from './launch.ts'
import { llmEngine } from './llm-engine.ts'
import { startStep } from './step.ts'
import type { Vendor } from './vendor.ts'

const stack = new AsyncDisposableStack()
let simulator: RunningSimulator
let vendors: { launch: Vendor; llmengine: Vendor }

beforeAll(async () => {
  simulator = stack.use(await startSimulator({ timeScale: 0, cache: { enabled: false } }))
  const breaker = circuitBreaker({ failures: Infinity, openMs: 0 })
  const wire = { baseUrl: simulator.url, apiKey: 'k', concurrency: 4, requestTimeoutMs: 5_000, breaker }
  const http = stack.use(vendorHttp({ ...wire, onRequest: () => {} }))
  const options = { http, apiKey: 'k', labels: { team: 't', product: 'p' }, resolveCredential: async () => null }
  vendors = { launch: launch(options), llmengine: llmEngine(options) }
})
afterAll(() => stack.disposeAsync())

const fields = (shape: Record<string, fc.Arbitrary<unknown>>) => fc.record(shape, { requiredKeys: [] })

/** Values that are good in most company, and seldom one that is good in little or none. */
const mostly = <Value>(good: readonly Value[], odd: readonly Value[]) =>
  fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...good) }, { weight: 1, arbitrary: fc.constantFrom(...odd) })

const common = {
  gpus: mostly([1, 2, 4], [0, 8]),
  gpu_type: fc.constantFrom(...GpuType.options),
  min_workers: mostly([1, 2], [0, 3]),
  max_workers: mostly([2, 3, 250], [0, 1, 251]),
  per_worker: fc.constantFrom(1, 2, 30),
  memory: mostly(['1Gi', '8Gi', '20Gi'], ['240Gi', '700Gi', '1500Gi', '500m', '0']),
  storage: mostly(['8G', '80Gi'], ['639Gi', '640Gi', '1200Gi']),
  endpoint_type: fc.constantFrom(...EndpointType.options),
  labels: mostly<object>([{ tier: 'a' }, { team: '' }], [{ user_id: 'a' }, { tier: 'a b' }, { tier: '-' }]),
}

const engines = fields({
  ...common,
  cpus: mostly([0.5, 4, 40], [60, 63, 100, 190]),
  num_shards: mostly([1, 2, 4], [3]),
  nodes_per_worker: mostly([1], [2]),
  inference_framework: fc.constantFrom('vllm', 'sglang', 'deepspeed', 'text_generation_inference', 'tensorrt_llm'),
  quantize: fc.constantFrom('awq', 'bitsandbytes'),
  checkpoint_path: mostly(['s3://models/x'], ['gs://models/x.tar', '/tmp/x']),
  chat_template_override: mostly(['{{ x }}'], ['x'.repeat(10_001)]),
  default_callback_url: mostly(['https://example.com/done'], ['mailto:x']),
  post_inference_hooks: mostly([['billing']], [['email']]),
  billing_tags: mostly<null | object>([null], [{ product: 'p' }]),
}).map((given) => ({ model: 'llama-3-8b-instruct', ...given }))

const images = fields({ streaming_command: mostly([['stream']], [[]]), readiness_delay: fc.nat(10) })
const launches = fc
  .record({ image: images, infra: fields({ ...common, cpus: mostly<string | number>(['500m', 6], ['2Gi', 8, '60']) }) })
  .map(({ image, infra }) => ({
    model_image: { registry: 'registry.example.com', repository: 'a/b', tag: '1', command: ['serve'], ...image },
    model_infra: infra,
  }))

const ensure = (vendor: Vendor, configuration: object) => {
  const model_id = typeId('model')
  const text = JSON.stringify(configuration)
  const spec = { account_id: 'a', model_id, generation: 1, configuration: text, traceparent: null }
  return vendor.ensure(spec, startStep(10_000))
}

test('a configuration of llmengine that the contract accepts is never refused by the vendor', async () => {
  const accepted = engines.filter((configuration) => {
    const { success, data } = LlmEngineVendorConfiguration.safeParse(configuration)
    return success && llmEngineProblems(data).length === 0
  })
  await fc.assert(
    fc.asyncProperty(accepted, async (configuration) => {
      expect(await ensure(vendors.llmengine, configuration)).toMatchObject({ state: 'pending' })
    }),
    { numRuns: 150 },
  )
})

test('a configuration of launch that the contract accepts is never refused by the vendor', async () => {
  const accepted = launches.filter((configuration) => {
    const { success, data } = LaunchVendorConfiguration.safeParse(configuration)
    return success && launchProblems(data).length === 0
  })
  await fc.assert(
    fc.asyncProperty(accepted, async (configuration) => {
      expect(await ensure(vendors.launch, configuration)).toMatchObject({ state: 'pending' })
    }),
    { numRuns: 150 },
  )
})
