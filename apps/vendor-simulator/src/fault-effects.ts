import type { HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Context } from 'hono'
import { setTimeout as delay } from 'node:timers/promises'
import type { Fault, FaultKind } from './faults.ts'
import type { JournalEntry } from './journal.ts'
import { internalErrorBody, tooManyRequestsBody } from './vendor-error.ts'
import type { World } from './world.ts'

export type Exchange = { response: Response; sent: JournalEntry['sent'] }

const USUAL_DETAIL: Record<number, string> = {
  400: 'The user specified an invalid value.',
  401: 'Could not authenticate user',
  403: 'Not authorized',
  404: 'Not Found',
  409: 'Existing operation on endpoint in progress, try again later.',
  503: 'Message broker temporarily unavailable. Please retry.',
}

const retryAfter = ({ retry_after_seconds }: Fault): Record<string, string> =>
  retry_after_seconds === undefined ? {} : { 'retry-after': String(retry_after_seconds) }

const statusResponse = ({ clock, random }: World, fault: Fault): Response => {
  const options = { status: fault.status, headers: retryAfter(fault) }
  if (fault.body !== undefined) return Response.json(fault.body, options)
  if (fault.status === 500) return Response.json(internalErrorBody(clock.wall(), random.uuid()), options)
  if (fault.status === 429) return Response.json(tooManyRequestsBody(clock.wall()), options)
  const detail = USUAL_DETAIL[fault.status]
  if (detail !== undefined) return Response.json({ detail }, options)
  // What is left comes from a proxy in front of the vendor, which knows no JSON.
  const html = `<html><body><h1>${fault.status}</h1></body></html>`
  return new Response(html, { ...options, headers: { ...options.headers, 'content-type': 'text/html' } })
}

const reset = (c: Context): Exchange => {
  const { incoming } = c.env as HttpBindings
  incoming.socket.resetAndDestroy()
  return { response: RESPONSE_ALREADY_SENT, sent: 'reset' }
}

const hang = async ({ closing }: World, c: Context): Promise<Exchange> => {
  const ended = AbortSignal.any([closing.signal, c.req.raw.signal])
  if (!ended.aborted) await new Promise((resolve) => ended.addEventListener('abort', resolve, { once: true }))
  return { response: RESPONSE_ALREADY_SENT, sent: 'hang' }
}

/** Waits for the machine's clock, and no longer than the server lives. */
const pause = ({ closing }: World, ms: number) => delay(ms, undefined, { signal: closing.signal }).catch(() => {})

const trickle = (world: World, { interval_ms }: Fault, text: string, response: Response): Response => {
  const bytes = new TextEncoder().encode(text)
  let sent = 0
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      if (sent > 0) await pause(world, interval_ms)
      if (sent >= bytes.length || world.closing.signal.aborted) controller.close()
      else controller.enqueue(bytes.subarray(sent, (sent += 1)))
    },
  })
  return new Response(body, { status: response.status, headers: response.headers })
}

/** Every object in a JSON value, changed in place. */
const eachObject = (value: unknown, change: (object: Record<string, unknown>) => void): void => {
  if (typeof value !== 'object' || value === null) return
  for (const inner of Object.values(value)) eachObject(inner, change)
  if (!Array.isArray(value)) change(value as Record<string, unknown>)
}

const spoilers: Partial<Record<FaultKind, (object: Record<string, unknown>) => void>> = {
  unknown_status: (object) => {
    if ('status' in object) object['status'] = 'RECONCILING'
  },
  missing_fields: (object) => {
    for (const name of ['status', 'deployment_state', 'endpoint_creation_task_id', 'model_bundle_id', 'deleted'])
      delete object[name]
  },
  extra_fields: (object) => {
    object['a_field_from_the_future'] = { nested: [1, null, 'x'] }
  },
}

const spoil = async (world: World, fault: Fault, response: Response): Promise<Response> => {
  const text = await response.text()
  const { status, headers } = response
  if (fault.kind === 'trickle') return trickle(world, fault, text, response)
  if (fault.kind === 'malformed_json')
    return new Response(text.slice(0, Math.ceil(text.length / 2)), { status, headers })
  const change = spoilers[fault.kind]
  const body: unknown = JSON.parse(text)
  if (change) eachObject(body, change)
  return Response.json(body, { status })
}

/** @returns `null` when the request goes on to the vendor after all */
export const beforeFault = async (world: World, c: Context, fault: Fault): Promise<Exchange | null> => {
  if (fault.kind === 'reset') return reset(c)
  if (fault.kind === 'hang') return hang(world, c)
  if (fault.kind === 'redirect') return { response: c.redirect(c.req.url, 307), sent: 307 }
  if (fault.kind === 'rate_limit') return { response: statusResponse(world, { ...fault, status: 429 }), sent: 429 }
  if (fault.kind === 'status') return { response: statusResponse(world, fault), sent: fault.status }
  if (fault.kind === 'delay') await pause(world, fault.interval_ms)
  return null
}

/** What goes over the wire instead of the answer the vendor gave. */
export const afterFault = async (world: World, c: Context, fault: Fault, response: Response): Promise<Exchange> => {
  const instead = await beforeFault(world, c, fault)
  if (instead) return instead
  return { response: fault.kind === 'delay' ? response : await spoil(world, fault, response), sent: response.status }
}
