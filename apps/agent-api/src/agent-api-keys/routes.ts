import { agentApiKeys } from '@keelson/contracts/agent'
import type { AuditedBy } from '@keelson/identity'
import type { Service } from '@keelson/service-kit'
import { agentStore, type AgentKey } from '../agents/store.ts'
import type { Deps } from '../app.ts'
import { createKey } from './create-key.ts'
import { rotateKey } from './rotate-key.ts'
import { keyStore, type KeyName } from './store.ts'
import { createWebhookTrigger } from './webhook-trigger.ts'

type KeyRouteDeps = Pick<Deps, 'db' | 'accountKeys' | 'keyring' | 'publicUrl'>

const SECRET = { secretAnswer: true } as const

const removal =
  ({ db, keyring }: Pick<KeyRouteDeps, 'db' | 'keyring'>) =>
  async (name: KeyName, by: AuditedBy) => {
    const { account_id } = by.principal
    const { agent_id } = await keyStore(db, account_id).delete(name, by)
    keyring.forget((await agentStore(db, account_id).get({ agent_id })).name)
  }

export const agentApiKeyRoutes = (service: Service, deps: KeyRouteDeps) => {
  const { db } = deps
  const agentOf = (account_id: string, key: AgentKey) => agentStore(db, account_id).get(key)

  const remove = removal(deps)

  service.handle(
    agentApiKeys.createWebhookTrigger,
    ({ body, principal, requestId }) => createWebhookTrigger(deps, { trigger: body, principal, requestId }),
    SECRET,
  )

  service.handle(
    agentApiKeys.createAgentApiKey,
    async ({ body, principal, requestId }) => {
      const by = { principal, requestId }
      const { name, api_key_type: source, verification, delivery, api_key: secret } = body
      const agent = await agentOf(by.principal.account_id, body)
      const forward_path = body.forward_path ?? null
      return createKey(deps, { by, agent, name, source, verification, forward_path, delivery, secret })
    },
    SECRET,
  )

  service.handle(agentApiKeys.listAgentApiKeys, async ({ query, principal: { account_id } }) => {
    const agent = await agentOf(account_id, query)
    return keyStore(db, account_id).list(agent.id, query)
  })

  service.handle(agentApiKeys.getAgentApiKey, ({ params, principal }) =>
    keyStore(db, principal.account_id).get({ id: params.key_id }),
  )

  service.handle(agentApiKeys.getAgentApiKeyByName, async ({ params, query, principal: { account_id } }) => {
    const agent = await agentOf(account_id, query)
    return keyStore(db, account_id).get({ agent_id: agent.id, name: params.name, source: query.api_key_type })
  })

  service.handle(
    agentApiKeys.rotateAgentApiKey,
    ({ params: { key_id }, body, principal, requestId }) =>
      rotateKey(deps, { key_id, secret: body.api_key, graceSeconds: body.grace_seconds, principal, requestId }),
    SECRET,
  )

  service.handle(agentApiKeys.deleteAgentApiKey, async ({ params, principal, requestId }) => {
    await remove({ id: params.key_id }, { principal, requestId })
    return `Agent API key with ID ${params.key_id} deleted`
  })

  service.handle(agentApiKeys.deleteAgentApiKeyByName, async ({ params, query, principal, requestId }) => {
    const agent = await agentOf(principal.account_id, query)
    const name = { agent_id: agent.id, name: params.name, source: query.api_key_type }
    await remove(name, { principal, requestId })
    return `Agent api_key '${params.name}' deleted`
  })
}
