import type { Hono } from 'hono'
import { mount, type Call, type Handler } from '../call.ts'
import { generationOf, latestRollout, type Endpoint } from '../endpoint.ts'
import { servingAt } from '../lifecycle.ts'
import { VendorError } from '../vendor-error.ts'
import type { World } from '../world.ts'

/** An echo for smoke probes: it tells which generation answered. */

const NOT_FOUND = 'The specified endpoint could not be found.'

const endpointOf = ({ world, owner }: Call, wanted: (endpoint: Endpoint) => boolean): Endpoint => {
  const endpoint = [...world.endpoints.values()].find(wanted)
  const visible = endpoint && (endpoint.owner === owner || latestRollout(endpoint).row.public_inference)
  if (!endpoint || !visible) throw new VendorError(404, NOT_FOUND)
  return endpoint
}

/** @returns the generation that answers, or `undefined` when no worker does */
const answering = ({ world }: Call, endpoint: Endpoint): string | null | undefined => {
  const { answering, operation } = servingAt(endpoint, world.clock.now())
  return answering ? generationOf(operation?.row.metadata) : undefined
}

const bodyOf = (call: Call): Record<string, unknown> => {
  const body = call.json()
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
}

const upstreamFailed = ({ world }: Call) =>
  new VendorError(500, `Upstream service error for request_id ${world.random.uuid()}`)

const syncTask: Handler = (call) => {
  const endpoint = endpointOf(call, ({ id }) => id === call.query('model_endpoint_id'))
  const { args = null } = bodyOf(call)
  const generation = answering(call, endpoint)
  return generation === undefined
    ? { status: 'FAILURE', result: null, traceback: 'no healthy upstream', status_code: 503 }
    : { status: 'SUCCESS', result: { echo: args, generation }, traceback: null, status_code: 200 }
}

const llmNamed = (call: Call, wanted: unknown) =>
  endpointOf(call, ({ name, flavour }) => flavour === 'llm' && name === wanted)

const completion: Handler = (call) => {
  const endpoint = llmNamed(call, call.query('model_endpoint_name'))
  const { prompt } = bodyOf(call)
  const generation = answering(call, endpoint)
  if (generation === undefined) throw upstreamFailed(call)
  const text = String(prompt)
  return {
    request_id: call.world.random.uuid(),
    output: { text, num_prompt_tokens: 1, num_completion_tokens: 1, tokens: null },
  }
}

const lastContent = (messages: unknown): unknown => {
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined
  return typeof last === 'object' && last !== null ? Reflect.get(last, 'content') : undefined
}

const chat: Handler = (call) => {
  const { model, messages } = bodyOf(call)
  const endpoint = llmNamed(call, model)
  const generation = answering(call, endpoint)
  if (generation === undefined) throw upstreamFailed(call)
  const message = { role: 'assistant', content: lastContent(messages) ?? '' }
  return {
    id: `chatcmpl-${call.world.random.xid()}`,
    object: 'chat.completion',
    created: Math.floor(call.world.clock.wall() / 1000),
    model,
    system_fingerprint: generation,
    choices: [{ index: 0, message, finish_reason: 'stop', logprobs: null }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  }
}

export const inferenceRoutes = (app: Hono, world: World): void => {
  mount(app, world, 'inference.sync', syncTask)
  mount(app, world, 'inference.completion', completion)
  mount(app, world, 'inference.chat', chat)
}
