import type { Metrics } from '@keelson/service-kit'
import { Counter, Gauge, Histogram } from 'prom-client'
import { INVARIANTS } from './watch/invariants.ts'

const MINUTES = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600]
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const deploymentMetrics = (registers: Metrics['registry'][]) => ({
  deployments: new Counter({
    name: 'deployments_total',
    help: 'Deployments that ended, by the phase they ended in',
    labelNames: ['kind', 'outcome', 'reason'] as const,
    registers,
  }),
  deploymentSeconds: new Histogram({
    name: 'deployment_duration_seconds',
    help: 'From the request to the end of a deployment',
    labelNames: ['kind', 'outcome'] as const,
    buckets: MINUTES,
    registers,
  }),
  reconciles: new Counter({
    name: 'reconcile_total',
    help: 'Steps by who asked for them; many from the sweeper mean that the queue is broken',
    labelNames: ['source', 'result'] as const,
    registers,
  }),
  leasesLost: new Counter({
    name: 'lease_lost_total',
    help: 'Steps whose result was refused because somebody else had taken over',
    registers,
  }),
})

const vendorMetrics = (registers: Metrics['registry'][]) => ({
  vendorRequests: new Counter({
    name: 'vendor_requests_total',
    help: 'Requests to the serving vendors',
    labelNames: ['vendor', 'op', 'outcome'] as const,
    registers,
  }),
  vendorSeconds: new Histogram({
    name: 'vendor_request_duration_seconds',
    help: 'Time to the answer of a serving vendor',
    labelNames: ['vendor', 'op'] as const,
    buckets: SECONDS,
    registers,
  }),
  vendorRefusedKey: new Counter({
    name: 'vendor_unauthorized_total',
    help: "Steps that failed because a vendor refused this installation's key: an operator must act",
    labelNames: ['vendor'] as const,
    registers,
  }),
  orphans: new Counter({
    name: 'orphan_found_total',
    help: 'Endpoints at a vendor that no model needs',
    labelNames: ['vendor'] as const,
    registers,
  }),
})

/** Every invariant has a sample from the start, so that the first violation is an increase. */
const invariantMetrics = (registers: Metrics['registry'][]) => {
  const violations = new Counter({
    name: 'invariant_violations_total',
    help: 'Rows found that break a promise of ours; must stay 0',
    labelNames: ['invariant'] as const,
    registers,
  })
  for (const invariant of INVARIANTS) violations.inc({ invariant }, 0)
  return { violations }
}

type Backlog = () => Promise<{ pending: number; oldestMs: number }>

/** Asked when somebody scrapes; both gauges from one query. */
const backlogMetrics = (registers: Metrics['registry'][], backlog: Backlog) => {
  const oldest = new Gauge({
    name: 'oldest_pending_seconds',
    help: 'For how long the most overdue deployment has been waiting to be looked at',
    registers,
  })
  const pending = new Gauge({
    name: 'deployments_pending',
    help: 'Deployments under way',
    registers,
    async collect() {
      const { pending: count, oldestMs } = await backlog()
      this.set(count)
      oldest.set(oldestMs / 1000)
    },
  })
  return { pending, oldest }
}

/** The series of the deployer, added to those every process has. */
export const deployerMetrics = ({ registry }: Pick<Metrics, 'registry'>, backlog: Backlog) => ({
  ...deploymentMetrics([registry]),
  ...vendorMetrics([registry]),
  ...invariantMetrics([registry]),
  ...backlogMetrics([registry], backlog),
})

export type DeployerMetrics = ReturnType<typeof deployerMetrics>
