import { createPrivateKey, sign, type KeyObject } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { KeyConfigurationError } from '../errors.ts'
import { renewed, type Expiring, type Renewed } from './expiring.ts'
import { exchange, jsonObject, Refused, textAt, type Answer } from './remote-call.ts'

/** Where access tokens come from: a service-account key file as Google issues it, or the machine's own identity. */
export type GcpCredentialSource =
  | { source: 'service_account'; key_file: string }
  | { source: 'metadata'; endpoint?: string | undefined }

const SCOPE = 'https://www.googleapis.com/auth/cloudkms'
const METADATA_PATH = '/computeMetadata/v1/instance/service-accounts/default/token'
const TIMEOUT_MS = 2000

type ServiceAccount = { client_email: string; private_key_id: string; token_uri: string; key: KeyObject }

const serviceAccount = (text: string): ServiceAccount => {
  const account = jsonObject(text)
  try {
    const key = createPrivateKey(textAt(account, 'private_key'))
    const [client_email, private_key_id, token_uri] = ['client_email', 'private_key_id', 'token_uri'].map((name) =>
      textAt(account, name),
    )
    if (client_email && private_key_id && token_uri) return { client_email, private_key_id, token_uri, key }
  } catch {
    // Whatever is wrong with the key, its text stays out of the message.
  }
  throw new KeyConfigurationError('GCP KMS: the service-account key file is not JSON as Google issues it')
}

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

const signedJwt = ({ client_email, private_key_id, token_uri, key }: ServiceAccount): string => {
  const iat = Math.floor(Date.now() / 1000)
  const claims = { iss: client_email, scope: SCOPE, aud: token_uri, iat, exp: iat + 3600 }
  const signed = `${base64url({ alg: 'RS256', typ: 'JWT', kid: private_key_id })}.${base64url(claims)}`
  return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`
}

const tokenIn = ({ status, body }: Answer): Expiring<string> => {
  const value = textAt(body, 'access_token')
  if (status !== 200 || !value) throw new Refused(`GCP access token: answered ${status}`)
  return { value, lifetimeMs: Number(body.expires_in ?? 0) * 1000 }
}

const fromServiceAccount = async (key_file: string) => {
  const account = serviceAccount(await readFile(key_file, 'utf8'))
  const body = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion: signedJwt(account),
  })
  return tokenIn(await exchange(account.token_uri, { method: 'POST', body, signal: AbortSignal.timeout(TIMEOUT_MS) }))
}

const fromMetadata = async (endpoint: string) => {
  const headers = { 'metadata-flavor': 'Google' }
  const answer = await exchange(`${endpoint}${METADATA_PATH}`, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) })
  if (answer.headers.get('metadata-flavor') !== 'Google') throw new Refused('GCP access token: not the metadata server')
  return tokenIn(answer)
}

/** Access tokens of one source, renewed before they expire; a changed key file is read again by then. */
export const gcpToken = (source: GcpCredentialSource): Renewed<string> =>
  renewed(() =>
    source.source === 'metadata'
      ? fromMetadata(source.endpoint ?? 'http://metadata.google.internal')
      : fromServiceAccount(source.key_file),
  )
