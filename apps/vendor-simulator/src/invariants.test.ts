import { expect, test } from 'vitest'
import {
  BUNDLES,
  bundleBody,
  createApp,
  ENDPOINTS,
  flavorBody,
  idOf,
  LABELS,
  LLM,
  llmBody,
  stage,
} from './test-vendor.ts'

const PATH = `${LLM}/llm-1`
const kinds = ({ sim }: { sim: { violations: () => { kind: string }[] } }) => sim.violations().map(({ kind }) => kind)

test('a client that waits for each operation violates nothing', async () => {
  await using it = await stage({ default_profile: 'instant' })
  await it.ask('POST', LLM, llmBody())
  await it.ask('PUT', PATH, { metadata: { model_generation: '2' } })
  await it.ask('DELETE', PATH)
  await it.ask('POST', LLM, llmBody({ metadata: { model_generation: '3' } }))
  expect(it.sim.violations()).toEqual([])
})

test('an update over an update under way is an overlapping write', async () => {
  await using it = await stage()
  await it.ask('POST', LLM, llmBody())
  it.sim.advance(15_000)
  await it.ask('PUT', PATH, { metadata: { model_generation: '2' } })
  expect(it.sim.violations()).toEqual([])
  it.sim.advance(5_000)
  await it.ask('PUT', PATH, { metadata: { model_generation: '3' } })
  expect(it.sim.violations()).toEqual([
    {
      kind: 'overlapping_write',
      at_ms: 20_000,
      seq: 3,
      endpoint: 'llm-1',
      generation: '3',
      detail: 'was UPDATE_IN_PROGRESS for generation 2',
    },
  ])
})

test('a restart over an update under way is an overlapping write', async () => {
  await using it = await stage()
  await createApp(it.ask)
  await it.ask('POST', `${ENDPOINTS}/${await idOf(it.ask)}/restart`)
  expect(kinds(it)).toEqual(['overlapping_write'])
})

test('a second effective create of one generation is a duplicate, a refused one is not', async () => {
  await using it = await stage({ default_profile: 'instant' })
  await it.ask('POST', LLM, llmBody())
  await it.ask('POST', LLM, llmBody())
  expect(it.sim.violations()).toEqual([])
  await it.ask('DELETE', PATH)
  await it.ask('POST', LLM, llmBody())
  expect(it.sim.violations()).toMatchObject([{ kind: 'duplicate_create', seq: 4, detail: 'also created by request 1' }])
})

test.each([
  ['a watched value in a label', { labels: { ...LABELS, note: 'hunter2-hunter2' } }, 'secret_in_labels'],
  ['a watched value in metadata', { metadata: { deep: { note: 'is hunter2-hunter2!' } } }, 'secret_in_metadata'],
  ['what looks like a key', { metadata: { note: 'sk-abcdef' } }, 'secret_in_metadata'],
  ['what is named like one', { metadata: { 'db-password': 'x' } }, 'secret_in_metadata'],
])('%s is reported without its value', async (_, changes, kind) => {
  await using it = await stage()
  it.sim.watchSecret('hunter2-hunter2')
  await it.ask('POST', LLM, llmBody(changes))
  expect(kinds(it)).toEqual([kind])
  expect(JSON.stringify(it.sim.violations())).not.toMatch(/hunter2|sk-abcdef/)
})

test('secrets belong in the environment and the callback credentials', async () => {
  await using it = await stage()
  it.sim.watchSecret('hunter2-hunter2')
  const default_callback_auth = { kind: 'basic', username: 'u', password: 'hunter2-hunter2' }
  await createApp(it.ask, { default_callback_auth }, { env: { API_KEY: 'hunter2-hunter2' } })
  expect(it.sim.violations()).toEqual([])
})

test('a secret in the metadata of a bundle or of an update is reported', async () => {
  await using it = await stage({ default_profile: 'instant' })
  it.sim.watchSecret('hunter2-hunter2')
  await it.ask('POST', BUNDLES, bundleBody({ metadata: { a: 'hunter2-hunter2' } }))
  await it.ask('POST', LLM, llmBody())
  await it.ask('PUT', PATH, { metadata: { b: 'hunter2-hunter2' } })
  expect(kinds(it)).toEqual(['secret_in_metadata', 'secret_in_metadata'])
})

test('the orphan report tells what nobody expects and what is missing', async () => {
  await using it = await stage({ default_profile: 'instant' })
  await createApp(it.ask, { name: 'app-1' })
  await it.ask('POST', LLM, llmBody())
  const repeated = (await it.ask('POST', BUNDLES, bundleBody())).body.model_bundle_id
  const changed = (await it.ask('POST', BUNDLES, bundleBody({ flavor: flavorBody({ tag: '2.0' }) }))).body
    .model_bundle_id
  expect(it.sim.orphans(['app-1', 'app-2'])).toEqual({
    endpoints: ['llm-1'],
    missing: ['app-2'],
    unused_bundles: [repeated, changed],
    duplicate_bundles: [repeated],
  })
})
