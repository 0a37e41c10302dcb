import type { EndpointType, JsonObject } from './endpoint.ts'
import { UncaughtError, VendorError } from './vendor-error.ts'

/** The checks that both vendors' routes make beyond the shape of a body. */

const REQUIRED_LABELS = ['team', 'product']
const RESTRICTED_LABELS = ['user_id', 'endpoint_name']
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/
const BILLING_KEYS = ['idempotencyKeyPrefix', 'product', 'type', 'subType', 'payee', 'payor', 'reference']
const HOOKS = ['billing', 'callback', 'logging']
const MAX_WORKERS = 250
const MAX_ASYNC_CONCURRENCY = 20

export const RESERVED_METADATA_KEYS = ['_llm', '_CONVERTED_FROM_ARTIFACT_LIKE']

/** @throws VendorError 400 */
export const checkLabels = (labels: Record<string, string>): void => {
  for (const label of REQUIRED_LABELS)
    if (!Object.hasOwn(labels, label))
      throw new VendorError(400, `Missing label '${label}' in labels. These are all required: {'team', 'product'}`)
  for (const label of RESTRICTED_LABELS)
    if (Object.hasOwn(labels, label)) throw new VendorError(400, `Cannot specify '${label}' in labels`)
  for (const value of Object.values(labels))
    if (!LABEL_VALUE.test(value))
      throw new VendorError(400, `Invalid label value ${value}, must match regex ${LABEL_VALUE.source.slice(1, -1)}`)
}

/** The vendor forgets to catch this one. @throws UncaughtError */
export const checkBillingTags = (tags: JsonObject | null): void => {
  if (tags === null) return
  const missing = BILLING_KEYS.filter((key) => !Object.hasOwn(tags, key))
  if (missing.length > 0) throw new UncaughtError(`Missing billing tag keys ${missing.join(', ')}`)
  if (
    Object.values(tags).some(
      (value) => typeof value !== 'string' && (typeof value !== 'object' || Array.isArray(value)),
    )
  )
    throw new UncaughtError('Billing tags must have string keys and string/dict values')
}

/** @param caught whether the route knows what to do with it: 400, else 500 */
export const checkHooks = (hooks: string[] | null, caught: boolean): void => {
  const unknown = hooks?.find((hook) => !HOOKS.includes(hook))
  if (unknown === undefined) return
  const message = `Unsupported post-inference hook ${unknown}. The supported hooks are: ['billing', 'callback', 'logging']`
  throw caught ? new VendorError(400, message) : new UncaughtError(message)
}

/** @throws VendorError 400 */
export const checkWorkers = (
  workers: { min_workers: number | null; max_workers: number | null },
  endpointType: EndpointType,
  scaleFromZero: boolean,
): void => {
  const { min_workers, max_workers } = workers
  const least = endpointType === 'async' || scaleFromZero ? 0 : 1
  if (min_workers !== null && min_workers < least)
    throw new VendorError(400, `Requested min workers ${min_workers} too low`)
  if (max_workers !== null && max_workers > MAX_WORKERS)
    throw new VendorError(400, `Requested max workers ${max_workers} too high`)
}

/** @throws VendorError 400 */
export const checkConcurrency = (concurrency: number | null, endpointType: EndpointType): void => {
  if (endpointType === 'async' && concurrency !== null && concurrency > MAX_ASYNC_CONCURRENCY)
    throw new VendorError(400, `Requested concurrent requests per worker ${concurrency} too high`)
}

export const defaultConcurrency = (perWorker: number): number => Math.min(perWorker, MAX_ASYNC_CONCURRENCY)

/** @throws VendorError 400 */
export const checkMetadata = (metadata: JsonObject, reserved: readonly string[]): void => {
  const used = reserved.find((key) => Object.hasOwn(metadata, key))
  if (used) throw new VendorError(400, `${used} is a reserved metadata key and cannot be used by user.`)
}
