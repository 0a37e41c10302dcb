import type { Vendor } from './insistent-client.ts'
import type { Link } from './wiring.ts'

export type Operation = 'create' | 'update' | 'delete'

/** One message of an operation, told by who sends it to whom and by what it says. */
export type Step = { name: string; link: { from: 'platform-api' | 'deployer'; to: Link['to'] | 'queue' }; says: RegExp }

const RING = /deployment_id/

const rings = (from: Step['link']['from']): Step => ({ name: `${from} rings`, link: { from, to: 'queue' }, says: RING })
const accepts = (name: string, says: RegExp): Step => ({ name, link: { from: 'platform-api', to: 'postgres' }, says })
const records = (name: string, says: RegExp): Step => ({ name, link: { from: 'deployer', to: 'postgres' }, says })
const calls = (name: string, says: RegExp): Step => ({ name, link: { from: 'deployer', to: 'vendor' }, says })

const CLAIM = records('claims', /set fence = d\.fence \+ 1/)
const LOOK = calls('looks at the vendor', /^GET \/v1\//)
const PROGRESS = records('records progress', /\), recorded as \([^]*(submitted|tearing_down)/)
const END = records('records the end', /\), recorded as \([^]*succeeded/)

const BUNDLE = [
  calls('looks for the bundle', /^GET \/v2\/model-bundles/),
  calls('creates the bundle', /^POST \/v2\/model-bundles/),
]

/** Begins with what the API writes, which differs, and goes on with what the deployer does, which is one loop. */
const ACCEPTS: Record<Operation, Step[]> = {
  create: [accepts('accepts: model and deployment', /insert into platform\.models/)],
  update: [
    accepts('accepts: model', /set status = 'deploying'/),
    accepts('accepts: deployment', /insert into platform\.deployments/),
    accepts('accepts: commit', /^commit/i),
  ],
  delete: [accepts('accepts: deployment', /insert into platform\.deployments/), accepts('accepts: commit', /^commit/i)],
}

const WRITES: Record<Operation, Step> = {
  create: calls('creates the endpoint', /^POST \/v1\//),
  update: calls('updates the endpoint', /^PUT \/v1\//),
  delete: calls('removes the endpoint', /^DELETE \/v1\//),
}

/** Every step of an operation in its order. */
export const stepsOf = (operation: Operation, vendor: Vendor): Step[] => [
  ...ACCEPTS[operation],
  rings('platform-api'),
  CLAIM,
  LOOK,
  ...(vendor === 'launch' && operation !== 'delete' ? BUNDLE : []),
  WRITES[operation],
  PROGRESS,
  rings('deployer'),
  END,
]
