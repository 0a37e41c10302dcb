import { agents } from '@keelson/contracts/agent'
import type { Service } from '@keelson/service-kit'
import type { Deps } from '../app.ts'
import { presentAgent } from './agent-row.ts'
import { deleteAgent } from './delete-agent.ts'
import { registerAgent } from './register-agent.ts'
import { agentStore } from './store.ts'

type AgentDeps = Pick<Deps, 'db' | 'accountKeys' | 'identities' | 'network' | 'keyring'>

export const agentRoutes = (service: Service, deps: AgentDeps) => {
  const storeOf = (account_id: string) => agentStore(deps.db, account_id)

  service.handle(
    agents.registerAgent,
    async ({ body, principal, requestId }) => {
      const { agent, ...told } = await registerAgent(deps, { registration: body, principal, requestId })
      return { ...presentAgent(agent), ...told }
    },
    { secretAnswer: true },
  )

  service.handle(agents.listAgents, async ({ query, principal }) =>
    (await storeOf(principal.account_id).list(query)).map(presentAgent),
  )

  service.handle(agents.getAgent, async ({ params, principal }) =>
    presentAgent(await storeOf(principal.account_id).get({ agent_id: params.agent_id })),
  )

  service.handle(agents.getAgentByName, async ({ params, principal }) =>
    presentAgent(await storeOf(principal.account_id).get({ agent_name: params.agent_name })),
  )

  service.handle(agents.deleteAgent, async ({ params, principal, requestId }) => {
    await deleteAgent(deps, { agent_id: params.agent_id, principal, requestId })
    return { id: params.agent_id, message: 'Agent deleted' }
  })
}
