import type { Context } from 'hono'
import { generationOf } from './endpoint.ts'
import type { JournalEntry } from './journal.ts'
import type { OperationName } from './operations.ts'
import type { World } from './world.ts'

type Body = Record<string, unknown>

const parsedOrNull = (text: string): Body | null => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Body) : null
  } catch {
    return null
  }
}

const nameOfId = ({ endpoints, bundles }: World, id: string | undefined): string | null =>
  endpoints.get(id ?? '')?.name ?? bundles.get(id ?? '')?.name ?? null

/** The endpoint or bundle a request is about, as far as it says. */
const nameIn = (world: World, c: Context, body: Body | null): string | null => {
  const { param, query } = { param: c.req.param(), query: c.req.query() } as { param: Body; query: Body }
  const named = param['name'] ?? query['name'] ?? query['model_name'] ?? query['model_endpoint_name']
  const inBody = named ?? body?.['name'] ?? body?.['model']
  const id = param['id'] ?? query['model_endpoint_id']
  if (typeof id === 'string') return nameOfId(world, id)
  return typeof inBody === 'string' ? inBody : null
}

/** Writes a request down, before anything else happens to it, and gives it to the next replica. */
export const openEntry = (world: World, operation: OperationName, c: Context, text: string): JournalEntry => {
  const body = parsedOrNull(text)
  const replica = world.requests % world.settings.cache.replicas
  world.requests += 1
  return world.journal.add({
    at_ms: Math.round(world.clock.now()),
    at: new Date(world.clock.wall()).toISOString(),
    operation,
    path: c.req.path,
    owner: null,
    replica,
    endpoint: nameIn(world, c, body),
    generation: generationOf(body?.['metadata']),
    body,
    fault: null,
    outcome: null,
    sent: null,
    committed: false,
    error: null,
  })
}
