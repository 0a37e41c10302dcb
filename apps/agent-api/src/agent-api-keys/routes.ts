import { agentApiKeys } from '@keelson/contracts/agent'
import type { Service } from '@keelson/service-kit'
import { agentStore, type AgentKey } from '../agents/store.ts'
import type { Deps } from '../app.ts'
import { createKey } from './create-key.ts'
import { rotateKey } from './rotate-key.ts'
import { keyStore, type KeyName } from './store.ts'
import { createWebhookTrigger } from './webhook-trigger.ts'

type KeyRouteDeps = Pick<Deps, 'db' | 'accountKeys' | 'keyring' | 'publicUrl'>

const SECRET = { secretAnswer: true } as const

export const agentApiKeyRoutes = (service: Service, deps: KeyRouteDeps) => {
  const { db, keyring } = deps
  const agentOf = (account_id: string, key: AgentKey) => agentStore(db, account_id).get(key)

  const remove = async (account_id: string, name: KeyName) => {
    const key = await keyStore(db, account_id).delete(name)
    keyring.forget((await agentOf(account_id, { agent_id: key.agent_id })).name)
    return key
  }

  service.handle(
    agentApiKeys.createWebhookTrigger,
    ({ body, principal }) => createWebhookTrigger(deps, { account_id: principal.account_id, trigger: body }),
    SECRET,
  )

  service.handle(
    agentApiKeys.createAgentApiKey,
    async ({ body, principal: { account_id } }) => {
      const { name, api_key_type: source, verification, delivery, api_key: secret } = body
      const agent = await agentOf(account_id, body)
      const forward_path = body.forward_path ?? null
      return createKey(deps, { account_id, agent, name, source, verification, forward_path, delivery, secret })
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
    ({ params, body, principal: { account_id } }) =>
      rotateKey(deps, { account_id, key_id: params.key_id, secret: body.api_key, graceSeconds: body.grace_seconds }),
    SECRET,
  )

  service.handle(agentApiKeys.deleteAgentApiKey, async ({ params, principal }) => {
    await remove(principal.account_id, { id: params.key_id })
    return `Agent API key with ID ${params.key_id} deleted`
  })

  service.handle(agentApiKeys.deleteAgentApiKeyByName, async ({ params, query, principal: { account_id } }) => {
    const agent = await agentOf(account_id, query)
    await remove(account_id, { agent_id: agent.id, name: params.name, source: query.api_key_type })
    return `Agent api_key '${params.name}' deleted`
  })
}
