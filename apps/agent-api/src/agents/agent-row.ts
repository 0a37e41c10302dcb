import { JsonText } from '@keelson/contracts'
import type { Agent } from '@keelson/contracts/agent'
import type { z } from 'zod'

type AgentAnswer = z.output<typeof Agent>

/** An agent as it is stored, without where it listens. */
export type AgentRow = Omit<AgentAnswer, 'registration_metadata'> & { registration_metadata: string | null }

export const AGENT_COLUMNS = [
  'id',
  'name',
  'description',
  'status',
  'status_reason',
  'acp_type',
  'agent_input_type',
  'registration_metadata',
  'registered_at',
  'created_at',
  'updated_at',
] as const

/** The agent as its readers see it. */
export const presentAgent = ({ registration_metadata: metadata, ...row }: AgentRow): AgentAnswer => ({
  ...row,
  registration_metadata: metadata === null ? null : new JsonText(metadata),
})
