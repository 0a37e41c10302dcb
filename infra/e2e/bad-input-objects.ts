import { agentRoutes } from '@keelson/contracts/agent'
import { createClient } from '@keelson/contracts/client'
import { platformRoutes } from '@keelson/contracts/platform'
import type { RunningServices } from './running-services.ts'

/** A trigger's secret, so that tables can sign. */
export const WEBHOOK_SECRET = 'a-secret-of-the-catalogue'

const AT = '2026-01-01T00:00:00Z'
const configuration = { model: 'llama-3-8b' }
const hosted = { model_vendor: 'openai', model_type: 'completion' } as const

export const clientsOf = (services: RunningServices, key: string) => ({
  platform: createClient(platformRoutes, { baseUrl: services.url['platform-api'], headers: { 'x-api-key': key } }),
  agent: createClient(agentRoutes, { baseUrl: services.url['agent-api'], headers: { authorization: `Bearer ${key}` } }),
})

/** Objects of one account that requests of the catalogue name as `$credential`, `$model` and so on. */
const objectsOf = async (services: RunningServices, key: string, account: string) => {
  const { platform, agent } = clientsOf(services, key)
  const credential = await platform.createCredential({ body: { name: `${account} one`, type: 'key', payload: 'p' } })
  const model = await platform.createModel({ body: { name: `${account}-hosted`, ...hosted } })
  const span = await agent.createSpan({ body: { id: `span-${account}`, trace_id: account, name: 'n', start_time: AT } })
  const registered = {
    name: `agent-${account}`,
    description: '',
    acp_url: 'http://127.0.0.1:9/',
    acp_type: 'sync' as const,
  }
  const { id: agent_id } = await agent.registerAgent({ body: registered })
  const { key_id } = await agent.createWebhookTrigger({
    body: { agent_name: registered.name, name: 'octocat/hello-world', forward_path: 'hooks', secret: WEBHOOK_SECRET },
  })
  return {
    credential: credential.id,
    model: model.id,
    model_name: model.name,
    span: span.id,
    agent: agent_id,
    key: key_id,
  }
}

/** What stands for a `$name` in a request of the catalogue. */
export const knownObjects = async (services: RunningServices): Promise<Record<string, string>> => {
  const own = await objectsOf(services, services.key, 'first')
  const foreign = await objectsOf(services, services.otherKey, 'second')
  const { platform } = clientsOf(services, services.key)
  const [deploying, other] = await Promise.all(
    ['deploying', 'other-deploying'].map((name) =>
      platform.createModel({ body: { name, model_vendor: 'llmengine', vendor_configuration: configuration } }),
    ),
  )
  const foreignNames = Object.entries(foreign).map(([name, value]) => [`foreign_${name}`, value])
  return {
    ...own,
    ...Object.fromEntries(foreignNames),
    deploying: deploying!.id,
    deploying_name: deploying!.name,
    other_deploying_name: other!.name,
    first: 'first',
    second: 'one',
  }
}

/** A text with every `$name` replaced. */
export const filledIn = (text: string, known: Record<string, string>): string =>
  text.replaceAll(/\$([a-z_]+)/g, (whole, name: string) => known[name] ?? whole)

/** A trace of 12 MB, which a list answers at once: more than the sockets of one connection hold. */
export const layOutLongTrace = async (services: RunningServices): Promise<void> => {
  const input = { text: 'x'.repeat(250_000) }
  const spans = Array.from({ length: 50 }, () => ({ trace_id: 'long', name: 'n', start_time: AT, input }))
  await clientsOf(services, services.key).agent.createSpanBatch({ body: { spans } })
}
