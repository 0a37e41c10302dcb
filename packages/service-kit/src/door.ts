import type { IncomingMessage, ServerResponse } from 'node:http'
import { commonHeaders } from './answer.ts'
import { type LoadGuard, OVERLOADED } from './load.ts'
import type { Metrics } from './metrics.ts'
import type { AccountOf } from './principal.ts'
import { problemAnswer } from './problems.ts'
import { PROBES } from './public-pages.ts'
import { headOf, pathOf, type RequestFacts, requestFacts } from './request-facts.ts'
import type { RecordRequest } from './request-recorder.ts'
import { dropBody, isStillSending } from './unread-body.ts'

export type Doorkeeper = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean

type House = Pick<RequestFacts, 'bodies' | 'crowd'> & {
  load: LoadGuard
  metrics: Metrics
  record: RecordRequest
  accountOf: AccountOf
  isDraining: () => boolean
}

/**
 * Refuses what there is no time for. Under overload there are more refusals than answers, so that a refusal must cost
 * little: it is written to the socket by itself, without a Request, a router, a Response or a span.
 */
export const doorkeeper = ({ load, crowd, bodies, metrics, record, accountOf, isDraining }: House): Doorkeeper => {
  const reasonToRefuse = (incoming: IncomingMessage): string | null => {
    if (PROBES.has(pathOf(incoming))) return null
    return load.overload() ?? (crowd.admits(() => accountOf(headOf(incoming).received)) ? null : 'crowd')
  }

  const refuse = (incoming: IncomingMessage, outgoing: ServerResponse, facts: RequestFacts): void => {
    const { status, headers, body } = problemAnswer(OVERLOADED, facts.requestId, '')
    const closing = isDraining() ? { connection: 'close' } : {}
    const length = { 'content-length': Buffer.byteLength(body) }
    outgoing.writeHead(status, { ...commonHeaders(facts), ...headers, ...length, ...closing })
    if (isStillSending(incoming)) {
      outgoing.write(body)
      dropBody(incoming, () => outgoing.end())
    } else outgoing.end(body)
    facts.errorCode = OVERLOADED.code
    record(incoming.method ?? '', facts, status)
  }

  return (incoming, outgoing) => {
    const reason = reasonToRefuse(incoming)
    if (reason === null) return false
    metrics.shed.inc({ reason })
    const facts = requestFacts(headOf(incoming), { incoming, outgoing }, { bodies, crowd })
    // By then a body that came together with its head has been read.
    queueMicrotask(() => refuse(incoming, outgoing, facts))
    return true
  }
}
