import type { RouteInput } from '@keelson/contracts'
import type { agentApiKeys } from '@keelson/contracts/agent'
import type { AuditedBy } from '@keelson/identity'
import { ApiError } from '@keelson/service-kit'
import { agentStore } from '../agents/store.ts'
import { encodePath, FORWARD_PREFIX } from '../forward/forward-path.ts'
import { createKey, type KeyDeps } from './create-key.ts'

type Trigger = RouteInput<typeof agentApiKeys.createWebhookTrigger>['body']

export type TriggerDeps = KeyDeps & { publicUrl: string | null }

/**
 * Registers the signing key of a webhook and composes the address to give to its source.
 *
 * @throws ApiError `unsupported_source`, `not_found`, `agent_api_key_exists`, `invalid_request`, `unavailable`
 */
export const createWebhookTrigger = async (deps: TriggerDeps, { trigger, ...by }: AuditedBy & { trigger: Trigger }) => {
  const { agent_name, name, forward_path, secret, delivery } = trigger
  if (trigger.source !== 'github' && trigger.source !== 'slack') {
    throw new ApiError('unsupported_source', 'A webhook trigger is of github or slack')
  }
  const source = trigger.source
  const agent = await agentStore(deps.db, by.principal.account_id).get({ agent_name })
  const verification = 'key' as const
  const key = await createKey(deps, { by, agent, name, source, verification, forward_path, delivery, secret })
  const webhook_path = `${FORWARD_PREFIX}${encodePath(agent_name)}/${encodePath(forward_path)}`
  const base = (trigger.base_url ?? deps.publicUrl)?.replace(/\/+$/, '')
  return {
    agent_name,
    key_id: key.id,
    name,
    secret: key.api_key,
    source,
    webhook_path,
    ...(base !== undefined && { webhook_url: base + webhook_path }),
    delivery,
  }
}
