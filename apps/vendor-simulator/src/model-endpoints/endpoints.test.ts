import { expect, test } from 'vitest'
import { createApp, ENDPOINTS, endpointBody, idOf, LABELS, stage, STREAMING, type Ask } from '../test-vendor.ts'

const UNCAUGHT = { error: 'Internal error occurred. Our team has been notified.' }
const detail = (text: string | RegExp) => ({ detail: typeof text === 'string' ? text : expect.stringMatching(text) })
const GPU = { gpus: 1, gpu_type: 'nvidia-ampere-a10' }
const NODES = { worker_command: ['work'], worker_env: {} }

const REFUSED: [row: string, changes: object, flavor: object, status: number, body: object][] = [
  ['a missing label', { labels: { team: 't' } }, {}, 400, detail(/^Missing label 'product'/)],
  [
    'a restricted label',
    { labels: { ...LABELS, endpoint_name: 'x' } },
    {},
    400,
    detail("Cannot specify 'endpoint_name' in labels"),
  ],
  ['min_workers 0 for sync', { min_workers: 0 }, {}, 400, detail('Requested min workers 0 too low')],
  ['max_workers above 250', { max_workers: 251 }, {}, 400, detail('Requested max workers 251 too high')],
  [
    'an async concurrency above 20',
    { endpoint_type: 'async', concurrent_requests_per_worker: 21 },
    {},
    400,
    detail(/^Requested concurrent requests per worker 21/),
  ],
  ['billing tags without their keys', { billing_tags: {} }, {}, 500, UNCAUGHT],
  ['an unknown hook', { post_inference_hooks: ['email'] }, {}, 500, UNCAUGHT],
  [
    'an unknown bundle',
    { model_bundle_id: 'bun_x' },
    {},
    404,
    detail('The specified model bundle could not be found.'),
  ],
  [
    'several nodes without a worker command',
    { nodes_per_worker: 2 },
    {},
    400,
    detail(/^Bundle bundle-1 is not multinode compatible/),
  ],
  [
    'several nodes that do not stream',
    { nodes_per_worker: 2 },
    NODES,
    400,
    detail(/^Endpoint is not multinode compatible/),
  ],
  [
    'streaming of a bundle that does not',
    { endpoint_type: 'streaming' },
    {},
    400,
    detail(/for a non-streaming model bundle/),
  ],
  ['streaming with per_worker above 1', { endpoint_type: 'streaming' }, STREAMING, 400, detail(/with per_worker != 1/)],
  ['sync of a bundle without a command', {}, { ...STREAMING, command: [] }, 400, detail(/with no bundle command/)],
  [
    'a reserved metadata key',
    { metadata: { _CONVERTED_FROM_ARTIFACT_LIKE: 1 } },
    {},
    400,
    detail(/is a reserved metadata key/),
  ],
  ['gpus without a gpu_type', { gpus: 1 }, {}, 400, detail('Must provide gpu_type if gpus > 0')],
  [
    'a gpu_type without gpus',
    { gpu_type: 'nvidia-tesla-t4' },
    {},
    400,
    detail('Cannot have gpus=0 when gpu_type is not None'),
  ],
  [
    'more cpus than a machine has',
    { cpus: '7' },
    {},
    400,
    detail('Requested cpus=8 too high. The maximum for gpu_type=None is 6'),
  ],
  ['more cpus than a gpu machine has', { ...GPU, cpus: 63 }, {}, 400, detail(/gpu_type='nvidia-ampere-a10' is 62$/)],
  ['more memory than a machine has', { memory: '29Gi' }, {}, 400, detail(/is 28\.0Gi$/)],
  ['more storage than a machine has', { storage: '640Gi' }, {}, 400, detail(/^Requested storage=\d+ too high/)],
  ['negative cpus', { cpus: -1 }, {}, 400, detail('Requested cpus must be positive')],
  ['a long name', { name: 'x'.repeat(64) }, {}, 422, { detail: [{ type: 'string_too_long', loc: ['body', 'name'] }] }],
  ['per_worker 0', { per_worker: 0 }, {}, 422, { detail: [{ type: 'greater_than', loc: ['body', 'per_worker'] }] }],
  [
    'negative workers',
    { min_workers: -1 },
    {},
    422,
    { detail: [{ type: 'greater_than_equal', loc: ['body', 'min_workers'] }] },
  ],
  ['no storage', { storage: undefined }, {}, 422, { detail: [{ type: 'missing', loc: ['body', 'storage'] }] }],
  [
    'an unknown gpu_type',
    { gpu_type: 'nvidia-b200' },
    {},
    422,
    { detail: [{ type: 'enum', loc: ['body', 'gpu_type'] }] },
  ],
  [
    'a callback that is no URL',
    { default_callback_url: 'ftp://x' },
    {},
    422,
    { detail: [{ loc: ['body', 'default_callback_url'] }] },
  ],
]

test.each(REFUSED)('%s is refused', async (_, changes, flavor, status, body) => {
  await using it = await stage()
  expect(await createApp(it.ask, changes, flavor)).toMatchObject({ status, body })
  expect(it.sim.endpoints()).toEqual([])
})

test.each([
  ['async from zero', { endpoint_type: 'async', min_workers: 0 }, {}],
  ['cpus in thousandths', { cpus: '500m' }, {}],
  ['numbers as text', { gpus: '0', per_worker: '4' }, {}],
  ['a GPU machine', { ...GPU, cpus: 60, memory: '200Gi' }, {}],
  ['streaming', { endpoint_type: 'streaming', per_worker: 1 }, STREAMING],
  [
    'several nodes',
    { ...GPU, endpoint_type: 'streaming', per_worker: 1, nodes_per_worker: 2 },
    { ...STREAMING, ...NODES },
  ],
])('%s is accepted', async (_, changes, flavor) => {
  await using it = await stage()
  expect((await createApp(it.ask, changes, flavor)).status).toBe(200)
})

const ready = async () => {
  const it = await stage({ default_profile: 'instant' })
  await createApp(it.ask)
  return { ...it, path: `${ENDPOINTS}/${await idOf(it.ask)}` }
}
const get = async (ask: Ask, path: string) => (await ask('GET', path)).body

test('metadata is replaced by an update, and stays when it says nothing of it', async () => {
  await using it = await ready()
  await it.ask('PUT', it.path, { max_workers: 9 })
  expect(await get(it.ask, it.path)).toMatchObject({
    metadata: { model_generation: '1' },
    deployment_state: { max_workers: 9 },
  })
  await it.ask('PUT', it.path, { metadata: { other: true } })
  expect((await get(it.ask, it.path)).metadata).toEqual({ other: true })
})

test.each([
  ['an unknown bundle', { model_bundle_id: 'bun_x' }, 404],
  ['an unknown hook, caught here', { post_inference_hooks: ['email'] }, 400],
  ['too many cpus', { cpus: 100 }, 400],
  ['a gpu_type alone', { gpu_type: 'nvidia-tesla-t4' }, 400],
  ['min_workers 0', { min_workers: 0 }, 400],
  ['a reserved metadata key', { metadata: { _CONVERTED_FROM_ARTIFACT_LIKE: 1 } }, 400],
  ['per_worker 0', { per_worker: 0 }, 422],
])('an update with %s is refused', async (_, body, status) => {
  await using it = await ready()
  expect((await it.ask('PUT', it.path, body)).status).toBe(status)
  expect(it.sim.endpoint('app-1')?.operations).toHaveLength(1)
})

test('an endpoint has the body of the vendor while it is built and afterwards', async () => {
  await using it = await stage()
  await createApp(it.ask, { endpoint_type: 'async', public_inference: true, task_expires_seconds: 60 })
  const path = `${ENDPOINTS}/${await idOf(it.ask)}`
  expect(await get(it.ask, path)).toMatchObject({
    status: 'UPDATE_PENDING',
    destination: 'UNKNOWN',
    deployment_name: null,
    deployment_state: null,
    resource_state: null,
    labels: null,
    num_queued_items: null,
  })
  it.sim.advance(15_000)
  expect(await get(it.ask, path)).toMatchObject({
    status: 'READY',
    destination: expect.stringMatching(/^launch-endpoint-id-end-/),
    bundle_name: 'bundle-1',
    created_by: 'key',
    public_inference: true,
    task_expires_seconds: 60,
    num_queued_items: 0,
    resource_state: { cpus: 3, gpus: 0, memory: '8Gi', storage: '16Gi', gpu_type: null, nodes_per_worker: 1 },
    deployment_state: { concurrent_requests_per_worker: 4, available_workers: 1 },
  })
})

test('a list tells by name and in order', async () => {
  await using it = await stage()
  for (const name of ['b', 'c', 'a']) await createApp(it.ask, { name })
  const names = async (query: string) =>
    (await it.ask('GET', `${ENDPOINTS}?${query}`)).body.model_endpoints.map(({ name }: { name: string }) => name)
  expect(await names('')).toEqual(['b', 'c', 'a'])
  expect(await names('order_by=newest')).toEqual(['a', 'c', 'b'])
  expect(await names('order_by=alphabetical')).toEqual(['a', 'b', 'c'])
  expect(await names('name=c')).toEqual(['c'])
  expect((await it.ask('GET', `${ENDPOINTS}?order_by=random`)).status).toBe(422)
})

test('restart is refused for several nodes', async () => {
  await using it = await stage({ default_profile: 'instant' })
  const nodes = { ...GPU, endpoint_type: 'streaming', per_worker: 1, nodes_per_worker: 2 }
  await createApp(it.ask, nodes, { ...STREAMING, ...NODES })
  await createApp(it.ask, { name: 'app-2' })
  const restart = async (name: string) => it.ask('POST', `${ENDPOINTS}/${await idOf(it.ask, name)}/restart`)
  expect((await restart('app-1')).status).toBe(400)
  expect((await restart('app-2')).body).toEqual({ restarted: true })
  expect((await it.ask('POST', `${ENDPOINTS}/end_x/restart`)).status).toBe(404)
})

test('what comes without an id is found by name', async () => {
  await using it = await ready()
  expect((await it.ask('POST', ENDPOINTS, endpointBody({ model_bundle_id: 'bun_x', name: 'app-1' }))).status).toBe(404)
  expect((await createApp(it.ask)).body).toEqual({ detail: 'The specified model endpoint already exists.' })
})
