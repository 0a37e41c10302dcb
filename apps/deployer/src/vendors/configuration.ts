import { isFacts } from './answers.ts'
import { resolveEnvironment, type Environment, type ResolveCredential } from './environment.ts'
import { parseExactly, scalarText } from './exact-json.ts'
import type { VendorHttp } from './http.ts'
import { redact } from './redact.ts'
import type { Endpoint, Spec } from './vendor.ts'
import { VendorError } from './vendor-error.ts'

export type Configuration = { [key: string]: unknown }

const broken = (what: string) =>
  new VendorError('internal_error', { detail: `the stored configuration has no ${what}`, retryable: false })

/** A stored configuration, its numbers exactly as written. */
export const configurationOf = ({ configuration }: Spec): Configuration => {
  const parsed = parseExactly(configuration)
  if (!isFacts(parsed)) throw broken('members')
  return parsed
}

export const memberOf = (configuration: Configuration, name: string): Configuration => {
  const member = configuration[name] ?? {}
  if (!isFacts(member)) throw broken(name)
  return member
}

/** Workers that must be up before a model counts as serving. */
export const wantedWorkers = ({ min_workers }: Configuration): number => Number(scalarText(min_workers) ?? 1)

export const withoutNulls = (members: Configuration): Configuration =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== undefined))

/** Labels the vendor demands; the caller's own win. */
export type VendorLabels = { team: string; product: string }

export type VendorOptions = {
  http: Pick<VendorHttp, 'call'>
  apiKey: string
  labels: VendorLabels
  resolveCredential: ResolveCredential
}

/**
 * Redacts the vendor's words about a failure. They may quote the environment, so its secrets are looked up once more;
 * when they cannot be, the words are not shown.
 */
export const withReasonRedacted = async <Found extends Endpoint>(
  found: Found,
  apiKey: string,
  environment: () => Promise<Environment>,
): Promise<Found> => {
  if (found.reason === null) return found
  try {
    return { ...found, reason: redact(found.reason, [apiKey, ...(await environment()).secrets]) }
  } catch {
    return { ...found, reason: null }
  }
}

export const environmentOf = (resolve: ResolveCredential, spec: Spec, env_vars: unknown): Promise<Environment> =>
  resolveEnvironment(resolve, spec.account_id, isFacts(env_vars) ? env_vars : {})
