import { withAccount, type Database } from '@keelson/database'
import { auditWithin, type AuditedBy, type IdentityStore } from '@keelson/identity'
import { notFound } from '@keelson/service-kit'
import type { Keyring } from '../forward/keyring.ts'
import { agentIdentity } from './register-agent.ts'

export type DeleteAgentDeps = {
  db: Database
  identities: Pick<IdentityStore, 'ensureIdentity' | 'retireKeys'>
  keyring: Pick<Keyring, 'forget'>
}

/**
 * Ends an agent: its keys stop working, its secrets are destroyed, and what waits for it is given up.
 *
 * @throws ApiError `not_found`
 */
export const deleteAgent = async (
  { db, identities, keyring }: DeleteAgentDeps,
  { agent_id, ...by }: AuditedBy & { agent_id: string },
): Promise<void> => {
  const { account_id } = by.principal
  const name = await withAccount(db, account_id, async (tx) => {
    const [agent] = await tx<{ name: string; ended_life: number }[]>`
      update agent.agents set deleted_at = now(), updated_at = now(), status = 'Deleted', status_reason = null, life = life + 1
      where account_id = ${account_id} and id = ${agent_id} and deleted_at is null returning name, life - 1 as ended_life`
    if (!agent) return notFound('agent')
    await tx`delete from agent.agent_api_keys where account_id = ${account_id} and agent_id = ${agent_id}`
    await tx`delete from agent.signing_secrets where account_id = ${account_id} and agent_id = ${agent_id}`
    await tx`
      update agent.webhook_deliveries
      set status = 'dead', next_attempt_at = null, claimed_until = null, last_error = 'the agent was deleted'
      where account_id = ${account_id} and agent_id = ${agent_id} and status = 'pending'`
    const target = { target_id: agent_id, target_version: agent.ended_life, outcome: 'done' as const }
    await auditWithin(tx, { ...by, action: 'agent.delete' }, target)
    return agent.name
  })
  keyring.forget(name)
  const { id } = await identities.ensureIdentity(agentIdentity(account_id, agent_id), by)
  await identities.retireKeys({ account_id, identity_id: id, keep: 0, by })
}
