/** A column of sealed bytes, and the columns that say what they were sealed for. */
export type SealedColumn = {
  /** Schema and table. */
  table: string
  column: string
  /** The purpose of the seal, see `packages/secrets`. */
  purpose: string
  record_id: string
  record_version: string
}

/**
 * Every place that sealed bytes are kept. Whoever rotates, verifies or restores keys goes through this list, so a column
 * that is not on it is lost with the next retired key. Each table has `account_id`.
 */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  {
    table: 'platform.credential_versions',
    column: 'sealed',
    purpose: 'credential.payload',
    record_id: 'credential_id',
    record_version: 'version',
  },
  {
    table: 'agent.agent_api_key_secrets',
    column: 'sealed',
    purpose: 'agent_api_key.secret',
    record_id: 'key_id',
    record_version: 'version',
  },
  {
    table: 'agent.signing_secrets',
    column: 'sealed',
    purpose: 'agent.signing_secret',
    record_id: 'agent_id',
    record_version: 'version',
  },
]
