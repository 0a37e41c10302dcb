import { scalarText } from './exact-json.ts'
import { secretsIn } from './redact.ts'
import { VendorError } from './vendor-error.ts'

/**
 * The payload of an account's credential, `null` when there is none of that name. Rejects when it cannot be read now.
 */
export type ResolveCredential = (account_id: string, name: string) => Promise<string | null>

export type Environment = {
  /** What the container sees; held for one vendor call, never stored. */
  variables: Record<string, string>
  secrets: string[]
}

const referenceOf = (value: unknown): string | null => {
  if (typeof value !== 'object' || value === null || !('$credential' in value)) return null
  return typeof value.$credential === 'string' ? value.$credential : null
}

const payloadOf = async (resolve: ResolveCredential, account_id: string, name: string): Promise<string> => {
  let payload: string | null
  try {
    payload = await resolve(account_id, name)
  } catch (cause) {
    throw new VendorError('credential_unavailable', { retryable: true, cause })
  }
  if (payload === null) throw new VendorError('credential_not_found', { detail: name, retryable: false })
  return payload
}

/**
 * Environment variables as the vendor takes them: scalars as text, `{"$credential": NAME}` as the payload of that
 * credential, `null` as absent.
 *
 * @throws VendorError when a credential is missing or cannot be read
 */
export const resolveEnvironment = async (
  resolve: ResolveCredential,
  account_id: string,
  env_vars: Readonly<Record<string, unknown>>,
): Promise<Environment> => {
  const environment: Environment = { variables: {}, secrets: [] }
  for (const [variable, value] of Object.entries(env_vars)) {
    if (value === null) continue
    const reference = referenceOf(value)
    const text = reference === null ? scalarText(value) : await payloadOf(resolve, account_id, reference)
    if (text === null) {
      throw new VendorError('vendor_rejected', { detail: `env_vars.${variable} must be a scalar`, retryable: false })
    }
    if (reference !== null) environment.secrets.push(...secretsIn(text))
    environment.variables[variable] = text
  }
  return environment
}
