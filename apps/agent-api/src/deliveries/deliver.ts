import { createSecretKey } from 'node:crypto'
import type { Database } from '@keelson/database'
import type { AccountKeys } from '@keelson/secrets'
import { ApiError, type Logger, type Tracer } from '@keelson/service-kit'
import type { AgentNetwork } from '../agents/agent-network.ts'
import { ensureSigningSecret } from '../agents/signing-secret.ts'
import { callAgent } from '../forward/call-agent.ts'
import { agentUrl } from '../forward/forward-path.ts'
import { hopHeaders, type HeaderFields } from '../forward/forwarded-headers.ts'
import { agentSpan } from '../forward/agent-span.ts'
import type { Claim } from './claim.ts'
import { pauseMs } from './schedule.ts'
import type { Outcome, Settlements } from './settle.ts'

export type DeliverDeps = {
  db: Database
  accountKeys: AccountKeys
  network: AgentNetwork
  settlements: Pick<Settlements, 'succeeded' | 'failed'>
  log: Logger
  /** Counts attempts by what came of them. */
  attempted?: (result: 'delivered' | 'failed' | 'given_up') => void
  /** Told of every attempt as a span. */
  tracer?: Tracer | null
  /** For the whole attempt. */
  attemptMs: number
}

const READ_BYTES = 65_536

const attempt = async (
  { db, accountKeys, network, attemptMs, tracer }: DeliverDeps,
  claim: Claim,
): Promise<Outcome> => {
  const { account_id, agent_id, key_id, source, id, attempts, body } = claim
  const { traceparent: accepted = null, ...passed } = JSON.parse(claim.headers) as HeaderFields
  const span = agentSpan(tracer, accepted, source)
  const signingSecret = createSecretKey(await ensureSigningSecret({ db, accountKeys }, { account_id, agent_id }))
  const hop = hopHeaders({
    key: { account_id, agent_id, key_id, source, signingSecret },
    id,
    attempt: attempts,
    body,
    requestId: id,
    traceparent: accepted,
    nowSeconds: Math.floor(Date.now() / 1000),
  })
  const late = AbortSignal.timeout(attemptMs)
  const url = agentUrl(claim.acp_url, claim.path, claim.query)
  const answer = await span.around(() =>
    callAgent(network, { url, method: 'POST', headers: { ...passed, ...hop, ...span.headers }, body, signal: late }),
  )
  await answer.body.dump({ limit: READ_BYTES, signal: late }).catch(() => {})
  const { statusCode } = answer
  const isAccepted = statusCode >= 200 && statusCode < 300
  return { last_status: statusCode, last_error: isAccepted ? null : `the agent answered ${statusCode}` }
}

const outcomeOf = (error: unknown): Outcome => {
  if (error instanceof ApiError) return { last_status: null, last_error: error.detail }
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return { last_status: null, last_error: 'The agent did not answer in time' }
  }
  throw error
}

/** Attempts a delivery once and writes down what came of it. */
export const deliver = async (deps: DeliverDeps, claim: Claim): Promise<void> => {
  const outcome = await attempt(deps, claim).catch(outcomeOf)
  const isDelivered = outcome.last_error === null
  const pause = pauseMs(claim.failures + 1)
  deps.attempted?.(isDelivered ? 'delivered' : pause === null ? 'given_up' : 'failed')
  if (isDelivered) return deps.settlements.succeeded(claim, outcome)
  const { account_id, agent_id, key_id, id: delivery_id, attempts } = claim
  const facts = { account_id, agent_id, key_id, delivery_id, attempts, status: outcome.last_status }
  deps.log[pause === null ? 'error' : 'warn'](facts, pause === null ? 'a delivery was given up' : 'an attempt failed')
  return deps.settlements.failed(claim, outcome, pause)
}
