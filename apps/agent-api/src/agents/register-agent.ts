import { jsonTextOf, type RouteInput, type Scope } from '@keelson/contracts'
import type { agents } from '@keelson/contracts/agent'
import { constraintOf, withAccount, type Database } from '@keelson/database'
import { AGENT_NAME_UNIQUE } from '@keelson/database/agent'
import { auditWithin, type AuditedBy, type IdentityStore } from '@keelson/identity'
import type { AccountKeys } from '@keelson/secrets'
import { ApiError, notFound, uuidv7 } from '@keelson/service-kit'
import type { Keyring } from '../forward/keyring.ts'
import { foldData, SEGMENT } from '../spans/data-log.ts'
import type { AgentNetwork } from './agent-network.ts'
import { AGENT_COLUMNS, type AgentRow } from './agent-row.ts'
import { ensureSigningSecret } from './signing-secret.ts'

type Registration = RouteInput<typeof agents.registerAgent>['body']

export type RegisterDeps = {
  db: Database
  accountKeys: AccountKeys
  identities: Pick<IdentityStore, 'ensureIdentity' | 'issueKey' | 'retireKeys'>
  network: Pick<AgentNetwork, 'assertAllowed'>
  keyring: Pick<Keyring, 'forget'>
}

/** What an agent's own key may do: report, and remember. */
const AGENT_SCOPES = [
  'spans:read',
  'spans:write',
  'checkpoints:read',
  'checkpoints:write',
  'checkpoints:delete',
  'agents:read',
] as const satisfies Scope[]

/** Every replica registers when it starts, and each gets a key; the oldest of more than these end. */
const LIVE_KEYS = 100

/** The service account that an agent's own keys belong to. */
export const agentIdentity = (account_id: string, agent_id: string) => ({
  account_id,
  type: 'service_account' as const,
  name: `agent ${agent_id}`,
})

const mergedMetadata = (before: string | null, given: string | null): string | null =>
  before !== null && given !== null ? foldData(before + SEGMENT + given) : (given ?? before)

const refuseTakenName = (error: unknown): never => {
  if (constraintOf(error) !== AGENT_NAME_UNIQUE) throw error
  throw new ApiError('agent_exists', 'Another agent of the account has the name')
}

type Found = Pick<AgentRow, 'id' | 'name' | 'registration_metadata'> & { is_deleted: boolean }

/** Makes the agent unless there is one, then writes down what the registration says. */
const writeAgent = async (
  db: Database,
  by: AuditedBy,
  registration: Registration,
): Promise<{ agent: AgentRow; nameBefore: string }> => {
  const { account_id } = by.principal
  return withAccount(db, account_id, async (tx) => {
    const { agent_id, name, description, acp_url, acp_type } = registration
    if (agent_id === undefined) {
      await tx`
          insert into agent.agents (account_id, id, name, description, acp_url, acp_type, status)
          values (${account_id}, ${uuidv7()}, ${name}, ${description}, ${acp_url}, ${acp_type}, 'Unknown')
          on conflict on constraint agents_name_unique do nothing`
    }
    const match = agent_id === undefined ? tx`name between ${name} and ${name} order by name` : tx`id = ${agent_id}`
    const [found] = await tx<Found[]>`
        select id, name, registration_metadata, deleted_at is not null as is_deleted
        from agent.agents where account_id = ${account_id} and ${match} for update`
    const before = found && !(agent_id !== undefined && found.is_deleted) ? found : notFound('agent')
    const given = registration.registration_metadata
    const metadata = mergedMetadata(
      before.is_deleted ? null : before.registration_metadata,
      given === undefined ? null : jsonTextOf(given),
    )
    const [agent] = await tx<AgentRow[]>`
        update agent.agents set name = ${name}, description = ${description}, acp_url = ${acp_url},
          acp_type = ${acp_type}, agent_input_type = coalesce(${registration.agent_input_type ?? null}, agent_input_type),
          registration_metadata = ${metadata}, status = 'Ready', status_reason = 'Agent registered successfully.',
          registered_at = now(), updated_at = now(), deleted_at = null
        where account_id = ${account_id} and id = ${before.id} returning ${tx(AGENT_COLUMNS)}`
    const target = { target_id: before.id, target_version: null, outcome: 'done' as const }
    await auditWithin(tx, { ...by, action: 'agent.register' }, target)
    return { agent: agent!, nameBefore: before.name }
  }).catch(refuseTakenName)
}

/**
 * Registers an agent or changes one, and issues a key of its own.
 *
 * @throws ApiError `invalid_request` for a refused address, `not_found` for an unknown agent_id, `agent_exists`
 */
export const registerAgent = async (
  { db, accountKeys, identities, network, keyring }: RegisterDeps,
  { registration, ...by }: AuditedBy & { registration: Registration },
) => {
  const { account_id } = by.principal
  await network.assertAllowed(registration.acp_url)
  const { agent, nameBefore } = await writeAgent(db, by, registration)
  const secret = await ensureSigningSecret({ db, accountKeys }, { account_id, agent_id: agent.id })
  keyring.forget(nameBefore)
  keyring.forget(agent.name)
  const { id: identity_id } = await identities.ensureIdentity(agentIdentity(account_id, agent.id), by)
  const request = { account_id, identity_id, kind: 'agent', name: agent.name, scopes: AGENT_SCOPES } as const
  const { token } = await identities.issueKey(request, by)
  await identities.retireKeys({ account_id, identity_id, keep: LIVE_KEYS, by })
  return { agent, agent_api_key: token, signing_secret: `whsec_${secret.toString('base64')}` }
}
