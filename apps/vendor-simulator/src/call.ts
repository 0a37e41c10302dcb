import type { Context, Hono } from 'hono'
import { authenticate } from './authenticate.ts'
import { afterFault, beforeFault } from './fault-effects.ts'
import type { JournalEntry } from './journal.ts'
import { openEntry } from './open-entry.ts'
import { OPERATIONS, type OperationName } from './operations.ts'
import { readJson } from './validation-detail.ts'
import { internalErrorBody, tooManyRequestsBody, VendorError } from './vendor-error.ts'
import type { World } from './world.ts'

/** One request, as a handler sees it. */
export type Call = {
  world: World
  /** Who the API key belongs to. */
  owner: string
  /** The server process that answers. */
  replica: number
  entry: JournalEntry
  param: (name: string) => string
  query: (name: string) => string | null
  /** @throws VendorError 422 when it is no JSON */
  json: () => unknown
}

/** Answers 200 with what it returns. Throws VendorError for the rest. */
export type Handler = (call: Call) => unknown

const errorResponse = ({ clock, random }: World, error: unknown): Response => {
  if (error instanceof VendorError)
    return Response.json({ detail: error.detail }, { status: error.status, headers: error.headers })
  return Response.json(internalErrorBody(clock.wall(), random.uuid()), { status: 500 })
}

const answer = async (
  world: World,
  c: Context,
  entry: JournalEntry,
  text: string,
  handler: Handler,
): Promise<Response> => {
  if (world.inFlight > world.settings.server.max_in_flight)
    return Response.json(tooManyRequestsBody(world.clock.wall()), { status: 429 })
  try {
    const owner = authenticate(world, c.req.header('authorization'))
    entry.owner = owner
    const call: Call = {
      world,
      owner,
      replica: entry.replica,
      entry,
      param: (name) => c.req.param(name) ?? '',
      query: (name) => c.req.query(name) ?? null,
      json: () => readJson(text),
    }
    return Response.json(await handler(call))
  } catch (error) {
    entry.error = error instanceof Error ? error.message : String(error)
    return errorResponse(world, error)
  }
}

const exchange = async (world: World, c: Context, entry: JournalEntry, text: string, handler: Handler) => {
  const fault = world.faults.draw(entry.operation, entry.endpoint)
  entry.fault = fault?.id ?? null
  const instead = fault?.when === 'before' ? await beforeFault(world, c, fault) : null
  if (instead) return instead
  const response = await answer(world, c, entry, text, handler)
  entry.outcome = response.status
  return fault?.when === 'after' ? afterFault(world, c, fault, response) : { response, sent: response.status }
}

/** Puts a handler on its route: journal, faults, the limiter, authentication and error bodies come with it. */
export const mount = (app: Hono, world: World, operation: OperationName, handler: Handler): void => {
  const [method, path] = OPERATIONS[operation]
  app.on(method, path, async (c) => {
    const text = method === 'GET' ? '' : await c.req.text()
    const entry = openEntry(world, operation, c, text)
    world.inFlight += 1
    try {
      const { response, sent } = await exchange(world, c, entry, text, handler)
      entry.sent = sent
      return response
    } finally {
      world.inFlight -= 1
    }
  })
}
