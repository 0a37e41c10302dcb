import { expect, test } from 'vitest'
import { BUNDLES, bundleBody, flavorBody, stage, STREAMING, vendor } from '../test-vendor.ts'

test('a bundle is read back whole, with the defaults of its flavour', async () => {
  await using it = await stage()
  const { status, body } = await it.ask('POST', BUNDLES, bundleBody({ metadata: { content_hash: 'abc' } }))
  expect([status, body]).toEqual([200, { model_bundle_id: expect.stringMatching(/^bun_[0-9a-v]{20}$/) }])
  expect((await it.ask('GET', `${BUNDLES}/${body.model_bundle_id}`)).body).toMatchObject({
    id: body.model_bundle_id,
    name: 'bundle-1',
    metadata: { content_hash: 'abc' },
    schema_location: 'TBA',
    model_artifact_ids: [],
    flavor: {
      flavor: 'runnable_image',
      predict_route: '/predict',
      healthcheck_route: '/readyz',
      readiness_initial_delay_seconds: 120,
      forwarder_type: 'default',
      env: null,
    },
  })
})

test('names repeat, and latest is the newest of a name', async () => {
  await using it = await stage()
  await it.ask('POST', BUNDLES, bundleBody())
  const second = (await it.ask('POST', BUNDLES, bundleBody())).body.model_bundle_id
  expect((await it.ask('GET', `${BUNDLES}/latest?model_name=bundle-1`)).body.id).toBe(second)
  expect((await it.ask('GET', `${BUNDLES}?model_name=bundle-1`)).body.model_bundles).toHaveLength(2)
  expect((await it.ask('GET', `${BUNDLES}?order_by=newest`)).body.model_bundles[0].id).toBe(second)
})

test.each([
  ['an image that is nowhere, without a registry', { flavor: flavorBody({ repository: 'app', tag: 'missing' }) }, 400],
  ['a missing schema location', { schema_location: undefined }, 422],
  ['an unknown flavour', { flavor: flavorBody({ flavor: 'wasm' }) }, 422],
  ['a flavour without a tag', { flavor: flavorBody({ tag: undefined }) }, 422],
  ['streaming without its command', { flavor: flavorBody({ ...STREAMING, streaming_command: undefined }) }, 422],
  ['another protocol', { flavor: flavorBody({ protocol: 'grpc' }) }, 422],
  ['an environment of numbers', { flavor: flavorBody({ env: { A: 1 } }) }, 422],
])('%s is refused', async (_, changes, status) => {
  await using it = await stage()
  expect((await it.ask('POST', BUNDLES, bundleBody(changes))).status).toBe(status)
})

test("another owner's bundle is not there", async () => {
  await using it = await stage()
  const { model_bundle_id } = (await it.ask('POST', BUNDLES, bundleBody())).body
  const other = vendor(it.sim, 'other')
  expect((await other('GET', `${BUNDLES}/${model_bundle_id}`)).status).toBe(404)
  expect((await other('GET', `${BUNDLES}/latest?model_name=bundle-1`)).body).toEqual({
    detail: 'Model Bundle bundle-1  was not found.',
  })
  expect((await other('GET', BUNDLES)).body).toEqual({ model_bundles: [] })
  expect((await other('GET', `${BUNDLES}/latest`)).status).toBe(422)
})
