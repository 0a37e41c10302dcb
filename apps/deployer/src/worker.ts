import type { Logger, Tracer } from '@keelson/service-kit'
import { advance, type Advance, type Ports } from './deployments/advance.ts'
import type { DeployerMetrics } from './metrics.ts'

export type WorkerOptions = {
  ports: Ports
  metrics: Pick<DeployerMetrics, 'deployments' | 'deploymentSeconds' | 'reconciles' | 'leasesLost' | 'vendorRefusedKey'>
  tracer: Tracer | null
  log: Logger
}

const traceId = (traceparent: string | null): string | undefined => traceparent?.split('-')[1]

/** `advance`, counted and logged. */
export const worker = ({ ports, metrics, tracer, log }: WorkerOptions) => {
  const tellEnd = ({ claim, change }: Extract<Advance, { result: 'advanced' }>): void => {
    const { kind, queuedMs } = claim
    const outcome = change.phase
    metrics.deployments.inc({ kind, outcome, reason: change.reason_code ?? 'none' })
    metrics.deploymentSeconds.observe({ kind, outcome }, queuedMs / 1000)
  }

  const tellStep = (step: Extract<Advance, { result: 'advanced' }>, source: string): void => {
    const { claim, change, error } = step
    const { id: deployment_id, account_id, model_id, kind, generation, model_vendor: vendor, phase } = claim
    const facts = {
      deployment_id,
      account_id,
      model_id,
      kind,
      generation,
      vendor,
      source,
      trace_id: traceId(claim.traceparent),
    }
    if (change.waitMs === null) tellEnd(step)
    if (error?.reason === 'vendor_unauthorized') metrics.vendorRefusedKey.inc({ vendor })
    if (error?.reason === 'vendor_unauthorized' || error?.reason === 'internal_error') {
      log.error({ ...facts, reason: error.reason, err: error }, 'a deployment needs an operator')
    }
    if (change.waitMs === null)
      log.info({ ...facts, outcome: change.phase, reason: change.reason_code }, 'deployment ended')
    else if (change.phase !== phase) log.info({ ...facts, phase: change.phase }, 'deployment moved on')
    else log.debug({ ...facts, phase, reason: change.reason_code }, 'deployment looked at')
  }

  return async (id: string, source: 'doorbell' | 'sweeper'): Promise<Advance> => {
    const startedAt = performance.now()
    const step = await advance(ports, id)
    metrics.reconciles.inc({ source, result: step.result })
    if (step.result === 'lost') metrics.leasesLost.inc()
    if (step.result === 'advanced') {
      const { kind, traceparent: parent, model_vendor: vendor } = step.claim
      const span = tracer?.start({ name: 'advance_deployment', kind: 'consumer', parent, startedAt })
      span?.end({ 'keelson.kind': kind, 'keelson.source': source, 'keelson.vendor': vendor })
      tellStep(step, source)
    }
    return step
  }
}
