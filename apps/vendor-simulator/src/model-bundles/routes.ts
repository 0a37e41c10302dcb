import type { Hono } from 'hono'
import { mount, type Call, type Handler } from '../call.ts'
import { timestamp } from '../endpoint-view.ts'
import { parseBody } from '../validation-detail.ts'
import { VendorError } from '../vendor-error.ts'
import type { World } from '../world.ts'
import { isImageChecked, isMissingTag, type Bundle } from './bundle.ts'
import { CreateBundle } from './schema.ts'

const bundleBody = ({ id, name, metadata, createdWallMs, schema_location, flavor }: Bundle) => ({
  id,
  name,
  metadata,
  created_at: timestamp(createdWallMs),
  model_artifact_ids: [],
  schema_location,
  flavor,
})

/** Registers a new version; names may repeat, and nothing ever removes one. */
export const addBundle = ({ world, owner }: Call, bundle: Omit<Bundle, 'id' | 'owner' | 'createdWallMs'>): Bundle => {
  const added = { id: `bun_${world.random.xid()}`, owner, createdWallMs: world.clock.wall(), ...bundle }
  world.bundles.set(added.id, added)
  return added
}

const createBundle: Handler = (call) => {
  const { name, metadata, schema_location, flavor } = parseBody(CreateBundle, call.json())
  if (isImageChecked(flavor.repository) && isMissingTag(flavor.tag))
    throw new VendorError(400, 'The specified custom Docker image could not be found.')
  const { id } = addBundle(call, { name, metadata: metadata ?? {}, schema_location, flavor, madeBy: 'client' })
  const { seq, at_ms, generation } = call.entry
  call.entry.committed = true
  call.world.invariants.published({ seq, at_ms, endpoint: name, generation }, 'metadata', metadata)
  return { model_bundle_id: id }
}

const owned = ({ world, owner }: Call, name: string | null): Bundle[] =>
  [...world.bundles.values()].filter((bundle) => bundle.owner === owner && (name === null || bundle.name === name))

const listBundles: Handler = (call) => {
  const bundles = owned(call, call.query('model_name'))
  return { model_bundles: (call.query('order_by') === 'newest' ? bundles.toReversed() : bundles).map(bundleBody) }
}

const notFound = (name: string) => new VendorError(404, `Model Bundle ${name}  was not found.`)

const latestBundle: Handler = (call) => {
  const name = call.query('model_name')
  if (name === null)
    throw new VendorError(422, [{ type: 'missing', loc: ['query', 'model_name'], msg: 'Field required', input: null }])
  const bundle = owned(call, name).at(-1)
  if (!bundle) throw notFound(name)
  return bundleBody(bundle)
}

const getBundle: Handler = (call) => {
  const bundle = call.world.bundles.get(call.param('id'))
  if (bundle?.owner !== call.owner) throw notFound(call.param('id'))
  return bundleBody(bundle)
}

export const bundleRoutes = (app: Hono, world: World): void => {
  mount(app, world, 'bundles.create', createBundle)
  mount(app, world, 'bundles.list', listBundles)
  mount(app, world, 'bundles.latest', latestBundle)
  mount(app, world, 'bundles.get', getBundle)
}
