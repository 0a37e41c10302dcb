import type { WebhookDelivery, WebhookSource } from '@keelson/contracts/agent'
import { boundTo, constraintOf, type Database } from '@keelson/database'
import { AGENT_API_KEY_NAME_UNIQUE } from '@keelson/database/agent'
import { auditInsert, type AuditedBy } from '@keelson/identity'
import type { AccountKeys } from '@keelson/secrets'
import { ApiError, uuidv7 } from '@keelson/service-kit'
import { assertForwardPath } from '../forward/forward-path.ts'
import type { Keyring } from '../forward/keyring.ts'
import { keyColumns, type KeyRow } from './key-row.ts'
import { sealSecret } from './sealed-secret.ts'
import { secretValue } from './secret-value.ts'

export type KeyDeps = { db: Database; accountKeys: AccountKeys; keyring: Pick<Keyring, 'forget'> }

export type NewKey = {
  by: AuditedBy
  agent: { id: string; name: string }
  name: string
  source: WebhookSource
  verification: 'key' | 'standard_webhooks'
  /** `null` opens every path of the agent. */
  forward_path: string | null
  delivery: WebhookDelivery
  secret: string | undefined
}

/** More keys than this would make every webhook of the agent slow. */
const KEYS_PER_AGENT = 1000

const refuseTakenName = (error: unknown): never => {
  if (constraintOf(error) !== AGENT_API_KEY_NAME_UNIQUE) throw error
  throw new ApiError('agent_api_key_exists', 'The agent has a key of this name and source')
}

/**
 * Creates a key of an agent with its sealed secret, in one statement.
 *
 * @throws ApiError `unsupported_source` for internal keys, `agent_api_key_exists`, `invalid_request`, `unavailable`
 */
export const createKey = async ({ db, accountKeys, keyring }: KeyDeps, key: NewKey) => {
  const { agent, source, name, delivery } = key
  const { account_id } = key.by.principal
  if (source === 'internal') {
    throw new ApiError('unsupported_source', 'Internal keys are issued by registering the agent')
  }
  const forward_path = key.forward_path === null ? null : assertForwardPath(key.forward_path)
  const verification = source === 'external' ? key.verification : null
  const { told, kept } = secretValue({ api_key_type: source, verification }, key.secret)
  const id = uuidv7()
  const sealed = await sealSecret(accountKeys, { account_id, key_id: id, version: 1 }, kept)
  const { sql } = db
  const act = { ...key.by, action: 'agent_api_key.create' }
  const [row] = await sql<KeyRow[]>`
    with ${boundTo(sql, account_id)}, key as (
      insert into agent.agent_api_keys
        (account_id, id, agent_id, name, source, verification, forward_path, delivery)
      select account_id, ${id}, ${agent.id}, ${name}, ${source}, ${verification}, ${forward_path}, ${delivery}
      from bound where ${KEYS_PER_AGENT} > (
        select count(*) from agent.agent_api_keys where account_id = ${account_id} and agent_id = ${agent.id})
      returning *
    ), secret as (
      insert into agent.agent_api_key_secrets (account_id, key_id, version, sealed)
      select account_id, id, 1, ${sealed} from key
    ), audited as (
      ${auditInsert(sql, act, sql`(select id as target_id, 1 as target_version, 'done' as outcome from key)`)}
    )
    select ${keyColumns(sql)} from key`.catch(refuseTakenName)
  if (!row) throw new ApiError('invalid_request', `An agent has at most ${KEYS_PER_AGENT} keys`)
  keyring.forget(agent.name)
  return { ...row, api_key: told }
}
