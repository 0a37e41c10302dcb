type Members = Record<string, unknown>
export type Parts = { query: Members; body: unknown }

const without = (members: Members, ...names: string[]): Members =>
  Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)))

const inBody =
  (fit: (body: Members) => Members) =>
  ({ query, body }: Parts): Parts => ({ query, body: fit(body as Members) })

const readablePayload = inBody((body) => ({ ...body, payload: '{"key":1}' }))

const endless = (span: Members): Members => without(span, 'end_time')
const endlessItems = inBody(({ spans }) => ({ spans: (spans as Members[]).map(endless) }))

const ofOneAgent = (members: Members): Members => ({ ...without(members, 'agent_id'), agent_name: 'agent' })
const askingOneAgent = ({ query, body }: Parts): Parts => ({ query: ofOneAgent(query), body })

const hosted = { model_vendor: 'openai', model_type: 'completion' }

/** What an operation asks of members together, which its schema cannot say: makes a request of ordinary members right. */
export const RULES: Record<string, (parts: Parts) => Parts> = {
  createCredential: readablePayload,
  updateCredential: readablePayload,
  createModel: inBody((model) => ({ ...without(model, 'vendor_configuration'), ...hosted })),
  // Which configurations fit is a matter of the model; `apps/deployer` generates those that do.
  updateModel: inBody((change) => without(change, 'vendor_configuration')),
  createSpan: inBody(endless),
  updateSpan: inBody((change) => without(change, 'start_time', 'end_time')),
  createSpanBatch: endlessItems,
  putSpanBatch: endlessItems,
  // An id must be that of a thread; a position may be any.
  listThreads: inBody((body) => (typeof body['starting_after'] === 'string' ? without(body, 'starting_after') : body)),
  pruneCheckpoints: inBody((body) => ({ ...body, keep_last: 1 })),
  createWebhookTrigger: inBody((body) => ({ ...ofOneAgent(body), source: 'github' })),
  createAgentApiKey: inBody((body) => ({ ...ofOneAgent(body), api_key: body['api_key'] ?? 'a-signing-secret' })),
  listAgentApiKeys: askingOneAgent,
  getAgentApiKeyByName: askingOneAgent,
  deleteAgentApiKeyByName: askingOneAgent,
}
