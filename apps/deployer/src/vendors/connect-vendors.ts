import type { DeployedVendor } from '@keelson/database/platform'
import type { Secret, Tracer } from '@keelson/service-kit'
import type { DeployerMetrics } from '../metrics.ts'
import { circuitBreaker } from './circuit-breaker.ts'
import type { VendorLabels } from './configuration.ts'
import type { ResolveCredential } from './environment.ts'
import { vendorHttp } from './http.ts'
import { launch } from './launch.ts'
import { llmEngine } from './llm-engine.ts'
import { VendorError } from './vendor-error.ts'
import type { Vendor } from './vendor.ts'

export type Connection = { url: string | null; apiKey: Secret | null }

export type ConnectVendorsOptions = {
  connections: Readonly<Record<DeployedVendor, Connection>>
  labels: VendorLabels
  resolveCredential: ResolveCredential
  concurrency: number
  requestTimeoutMs: number
  metrics: Pick<DeployerMetrics, 'vendorRequests' | 'vendorSeconds'>
  tracer: Tracer | null
}

const DRIVERS = { launch, llmengine: llmEngine }
const BREAKER = { failures: 10, openMs: 10_000 }

const absent = (vendor: DeployedVendor): Vendor => {
  const refuse = async () => {
    throw new VendorError('vendor_not_configured', { detail: vendor, retryable: false })
  }
  return { ensure: refuse, observe: refuse, destroy: refuse, list: async () => [] }
}

/** The drivers of all vendors; one that has no address and key refuses everything, and says why. */
export const connectVendors = (
  options: ConnectVendorsOptions,
  stack: AsyncDisposableStack,
): Record<DeployedVendor, Vendor> => {
  const { connections, labels, resolveCredential, concurrency, requestTimeoutMs, metrics, tracer } = options
  const connectOne = (vendor: DeployedVendor): Vendor => {
    const { url, apiKey } = connections[vendor]
    if (url === null || apiKey === null) return absent(vendor)
    const onRequest = (op: string, outcome: string, seconds: number) => {
      metrics.vendorRequests.inc({ vendor, op, outcome })
      metrics.vendorSeconds.observe({ vendor, op }, seconds)
    }
    const key = apiKey.expose()
    const breaker = circuitBreaker(BREAKER)
    const traced = { tracer, vendor }
    const http = stack.use(
      vendorHttp({ baseUrl: url, apiKey: key, concurrency, requestTimeoutMs, breaker, onRequest, ...traced }),
    )
    return DRIVERS[vendor]({ http, apiKey: key, labels, resolveCredential })
  }
  return { launch: connectOne('launch'), llmengine: connectOne('llmengine') }
}
