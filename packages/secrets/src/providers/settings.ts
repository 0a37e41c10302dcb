import { KeyConfigurationError } from '../errors.ts'
import type { AwsCredentialSource } from './aws-credentials.ts'
import type { AwsKmsSettings } from './aws-kms.ts'
import type { GcpKmsSettings } from './gcp-kms.ts'
import type { VaultTransitSettings } from './vault-transit.ts'

/** One place that key-encryption keys come from. */
export type KeyProviderSettings =
  | { provider: 'file'; path: string }
  | { provider: 'environment'; keys: string }
  | ({ provider: 'aws-kms' } & AwsKmsSettings)
  | ({ provider: 'gcp-kms' } & GcpKmsSettings)
  | ({ provider: 'vault-transit' } & VaultTransitSettings)

/** The place that wraps, and others whose keys still unwrap while account keys are moved off them. */
export type KeyProviderConfig = KeyProviderSettings & { former?: readonly KeyProviderSettings[] | undefined }

type Environment = Readonly<Record<string, string | undefined>>

/** The setting that switches each kind on. Kinds switched on besides the chosen one only unwrap. */
const SWITCH = {
  file: 'KEY_FILE',
  environment: 'KEY_ENCRYPTION_KEYS',
  'aws-kms': 'AWS_KMS_KEY',
  'gcp-kms': 'GCP_KMS_KEY',
  'vault-transit': 'VAULT_TRANSIT_KEY',
} as const

type Kind = keyof typeof SWITCH

const KINDS = Object.keys(SWITCH) as Kind[]

const listOf = (text: string | undefined) => text?.split(/[\s,]+/).filter(Boolean) ?? []

const need = (env: Environment, name: string): string => {
  const value = env[name]
  if (!value) throw new KeyConfigurationError(`${name} must be set`)
  return value
}

const awsCredentialSource = (env: Environment): AwsCredentialSource => {
  const { AWS_ACCESS_KEY_ID, AWS_ROLE_ARN, AWS_WEB_IDENTITY_TOKEN_FILE, AWS_CONTAINER_CREDENTIALS_FULL_URI } = env
  const { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE } = env
  if (AWS_ACCESS_KEY_ID) {
    const secret_access_key = need(env, 'AWS_SECRET_ACCESS_KEY')
    return {
      source: 'static',
      access_key_id: AWS_ACCESS_KEY_ID,
      secret_access_key,
      session_token: env.AWS_SESSION_TOKEN,
    }
  }
  if (AWS_WEB_IDENTITY_TOKEN_FILE && AWS_ROLE_ARN) {
    const region = need(env, 'AWS_REGION')
    return { source: 'web_identity', role_arn: AWS_ROLE_ARN, token_file: AWS_WEB_IDENTITY_TOKEN_FILE, region }
  }
  const url = AWS_CONTAINER_CREDENTIALS_RELATIVE_URI
    ? `http://169.254.170.2${AWS_CONTAINER_CREDENTIALS_RELATIVE_URI}`
    : AWS_CONTAINER_CREDENTIALS_FULL_URI
  if (url) return { source: 'container', url, token_file: AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE }
  return { source: 'instance' }
}

const READERS: { [K in Kind]: (env: Environment, key: string) => Extract<KeyProviderSettings, { provider: K }> } = {
  file: (_, path) => ({ provider: 'file', path }),
  environment: (_, keys) => ({ provider: 'environment', keys }),
  'aws-kms': (env, key) => ({
    provider: 'aws-kms',
    key,
    previous: listOf(env.AWS_KMS_PREVIOUS_KEYS),
    credentials: awsCredentialSource(env),
    endpoint: env.AWS_KMS_ENDPOINT,
  }),
  'gcp-kms': (env, key) => ({
    provider: 'gcp-kms',
    key,
    previous: listOf(env.GCP_KMS_PREVIOUS_KEYS),
    credentials: env.GOOGLE_APPLICATION_CREDENTIALS
      ? { source: 'service_account', key_file: env.GOOGLE_APPLICATION_CREDENTIALS }
      : { source: 'metadata' },
    endpoint: env.GCP_KMS_ENDPOINT,
  }),
  'vault-transit': (env, key) => ({
    provider: 'vault-transit',
    key,
    previous: listOf(env.VAULT_TRANSIT_PREVIOUS_KEYS),
    address: need(env, 'VAULT_ADDR'),
    mount: env.VAULT_TRANSIT_MOUNT,
    namespace: env.VAULT_NAMESPACE,
    token: env.VAULT_TOKEN_FILE ? { file: env.VAULT_TOKEN_FILE } : { value: need(env, 'VAULT_TOKEN') },
  }),
}

const settingsOf = (kind: Kind, env: Environment): KeyProviderSettings => READERS[kind](env, need(env, SWITCH[kind]))

/**
 * Reads the settings of key providers from an environment. `KEY_PROVIDER` chooses who wraps; without it the only one
 * configured does. The others configured keep unwrapping.
 *
 * @throws KeyConfigurationError naming the settings that are wrong, never their values
 */
export const keyProviderSettings = (env: Environment): KeyProviderConfig => {
  const configured = KINDS.filter((kind) => env[SWITCH[kind]])
  const chosen = env.KEY_PROVIDER || (configured.length === 1 ? configured[0] : undefined)
  if (chosen === undefined) {
    const why =
      configured.length === 0
        ? `one of ${Object.values(SWITCH).join(', ')} must be set`
        : 'KEY_PROVIDER must say which one wraps'
    throw new KeyConfigurationError(`key-encryption keys: ${why}`)
  }
  const current = KINDS.find((kind) => kind === chosen)
  if (current === undefined) throw new KeyConfigurationError(`KEY_PROVIDER must be one of ${KINDS.join(', ')}`)
  const former = configured.filter((kind) => kind !== current).map((kind) => settingsOf(kind, env))
  return { ...settingsOf(current, env), former }
}
