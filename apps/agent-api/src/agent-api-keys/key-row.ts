import type { AgentApiKey } from '@keelson/contracts/agent'
import type { Database } from '@keelson/database'

/** A key as its readers see it; its value is kept elsewhere, sealed. */
export type KeyRow = AgentApiKey & { api_key_type: 'external' | 'github' | 'slack' }

/** The columns of a key; a secret before the last rotation is told of only while it works. */
export const keyColumns = (sql: Pick<Database, 'sql'>['sql']) => sql`
  id, agent_id, name, source as api_key_type, verification, forward_path, delivery, created_at, rotated_at,
  case when previous_expires_at > now() then previous_expires_at end as previous_expires_at, disabled_at`
