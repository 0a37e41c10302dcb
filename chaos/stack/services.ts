import { SERVICES, type Service, type ServiceName, type StackEnvironment } from '@keelson/local-stack'

/** A process of the stack; two deployers, so that one can take over from the other. */
export const PROCESSES = ['platform-api', 'agent-api', 'webhook-worker', 'deployer-1', 'deployer-2'] as const
export type ProcessName = (typeof PROCESSES)[number]

export const serviceOf = (name: ProcessName | 'vendor-simulator'): Service => {
  const service = SERVICES.find((one) => one.name === (name.replace(/-\d$/, '') as ServiceName))
  if (service === undefined) throw new Error(`there is no service ${name}`)
  return service
}

/** The vendor lives twenty times as fast as life, and so must everybody's patience. */
const DEPLOYER = {
  POLL_MIN: '100ms',
  POLL_MAX: '1s',
  CONFIRM_TIME: '200ms',
  LEASE: '2s',
  // Longer than black hole, vendor delay and step together may hold a request back.
  SETTLE_TIME: '6s',
  VENDOR_CACHE_TIME: '750ms',
  VENDOR_REQUEST_TIMEOUT: '700ms',
  SWEEP_INTERVAL: '500ms',
  RETRY_MAX: '3s',
  QUEUEING_TIMEOUT: '60s',
  DEPLOYMENT_TIMEOUT: '20s',
  TEARDOWN_TIMEOUT: '60s',
  CLEANUP_TIMEOUT: '300s',
  OBSERVE_INTERVAL: '5s',
  ORPHAN_INTERVAL: '3s',
  REMOVE_ORPHANS: 'true',
}

const SETTINGS: Partial<Record<ServiceName, Record<string, string>>> = {
  deployer: DEPLOYER,
  'webhook-worker': { WEBHOOK_ATTEMPT_TIMEOUT: '2s' },
  'vendor-simulator': { SIMULATOR_TIME_SCALE: '20', SIMULATOR_JOURNAL_LIMIT: '1000' },
}

/** The whole environment of a process. */
export const settingsOf = (name: ProcessName | 'vendor-simulator', port: number, stack: StackEnvironment) => {
  const service = serviceOf(name)
  const { PATH, HOME, TMPDIR } = process.env
  const listen = { HOST: '127.0.0.1', PORT: String(port), METRICS_PORT: '0', DRAIN_TIMEOUT: '5s', LOG_LEVEL: 'warn' }
  return { PATH, HOME, TMPDIR, ...listen, ...service.env(stack), ...SETTINGS[service.name] }
}
