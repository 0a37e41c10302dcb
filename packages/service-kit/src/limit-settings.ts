import type { Config } from './config.ts'
import { DEFAULT_LIMITS, type ServiceLimits } from './service-options.ts'
import { setting } from './setting.ts'

const { rate, maxInFlight, crowdSize, maxSlowdown, maxBodyBytes } = DEFAULT_LIMITS

/** A setting of what the bodies of some operations may weigh each. */
export const bodyLimitSetting = (bytes: number, what: string) =>
  setting.integer({ default: bytes, min: 1024, max: 134_217_728, description: `what ${what} may weigh; beyond, 413` })

/** The limits that operators of a service may set. */
export const limitSettings = {
  RATE_LIMIT: setting.integer({
    default: rate.requestsPerSecond,
    min: 1,
    description: 'requests per second that one API key may send to one process',
  }),
  RATE_BURST: setting.integer({
    default: rate.burst,
    min: 1,
    description: 'requests that a quiet key may send at once',
  }),
  MAX_IN_FLIGHT: setting.integer({
    default: maxInFlight,
    min: 1,
    description: 'requests that a process answers at a time; what is beyond gets 503 at once',
  }),
  CROWD_SIZE: setting.integer({
    default: crowdSize,
    min: 1,
    description:
      'requests at a time that are no crowd, however slow they make each other; beyond, a line of 75 ms is one',
  }),
  MAX_SLOWDOWN: setting.integer({
    default: maxSlowdown,
    min: 2,
    description: 'how many times slower than usual requests may get while a crowd gets 503 at once',
  }),
  MAX_BODY_BYTES: setting.integer({
    default: maxBodyBytes,
    min: 1,
    description: 'what the bodies of these requests may weigh together; what is beyond gets 503 at once',
  }),
  HEADERS_TIMEOUT: setting.durationMs({ default: 10_000, description: 'how long the head of a request may take' }),
  REQUEST_TIMEOUT: setting.durationMs({ default: 60_000, description: 'how long a request may take to arrive whole' }),
} as const

export const serviceTimeouts = (config: Config<typeof limitSettings>) => ({
  headersTimeoutMs: config.HEADERS_TIMEOUT,
  requestTimeoutMs: config.REQUEST_TIMEOUT,
})

export const serviceLimits = (
  config: Config<typeof limitSettings>,
  bodyBytes: ServiceLimits['bodyBytes'],
): Partial<ServiceLimits> => ({
  rate: { requestsPerSecond: config.RATE_LIMIT, burst: config.RATE_BURST },
  maxInFlight: config.MAX_IN_FLIGHT,
  crowdSize: config.CROWD_SIZE,
  maxSlowdown: config.MAX_SLOWDOWN,
  maxBodyBytes: config.MAX_BODY_BYTES,
  bodyBytes,
})
