import { readFile } from 'node:fs/promises'
import type { AwsCredentials } from './aws-signature.ts'
import { renewed, type Expiring, type Renewed } from './expiring.ts'
import { exchange, Refused, textAt, valueAt, type Answer } from './remote-call.ts'

/** Where AWS credentials come from: given, or from the role of the container, the service account or the machine. */
export type AwsCredentialSource =
  | ({ source: 'static' } & AwsCredentials)
  | { source: 'container'; url: string; token_file?: string | undefined }
  | { source: 'web_identity'; role_arn: string; token_file: string; region: string; endpoint?: string | undefined }
  | { source: 'instance'; endpoint?: string | undefined }

type From<S extends AwsCredentialSource['source']> = Extract<AwsCredentialSource, { source: S }>

const TIMEOUT_MS = 2000
const HOUR_MS = 3_600_000

const ask = async (url: string, init: RequestInit): Promise<Answer> => {
  const answer = await exchange(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) })
  if (answer.status !== 200) throw new Refused(`AWS credentials: answered ${answer.status}`)
  return answer
}

/** @param tokenName what this endpoint calls the session token */
const credentialsIn = (body: unknown, tokenName: string): Expiring<AwsCredentials> => {
  const value = {
    access_key_id: textAt(body, 'AccessKeyId'),
    secret_access_key: textAt(body, 'SecretAccessKey'),
    session_token: textAt(body, tokenName),
  }
  if (!value.access_key_id || !value.secret_access_key) throw new Refused('AWS credentials: the answer holds none')
  const expiration = valueAt(body, 'Expiration')
  const expiresAt = typeof expiration === 'number' ? expiration * 1000 : Date.parse(String(expiration))
  return { value, lifetimeMs: Number.isNaN(expiresAt) ? HOUR_MS : expiresAt - Date.now() }
}

const fromRole = (body: unknown) => credentialsIn(body, 'Token')

const fromContainer = async ({ url, token_file }: From<'container'>) => {
  const headers = token_file === undefined ? {} : { authorization: (await readFile(token_file, 'utf8')).trim() }
  return fromRole((await ask(url, { headers })).body)
}

/** STS takes the service account's token in place of a signature, and answers JSON to those who ask for it. */
const fromWebIdentity = async ({ role_arn, token_file, region, endpoint }: From<'web_identity'>) => {
  const body = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: role_arn,
    RoleSessionName: 'keelson',
    WebIdentityToken: (await readFile(token_file, 'utf8')).trim(),
  })
  const url = endpoint ?? `https://sts.${region}.amazonaws.com`
  const answer = await ask(url, { method: 'POST', headers: { accept: 'application/json' }, body })
  const path = ['AssumeRoleWithWebIdentityResponse', 'AssumeRoleWithWebIdentityResult', 'Credentials']
  return credentialsIn(path.reduce<unknown>(valueAt, answer.body), 'SessionToken')
}

/** The second version of the instance metadata service: a session token first, then the role, then its credentials. */
const fromInstance = async ({ endpoint = 'http://169.254.169.254' }: From<'instance'>) => {
  const text = async (path: string, init: RequestInit) => {
    const response = await fetch(`${endpoint}/latest/${path}`, {
      ...init,
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    if (!response.ok) throw new Refused(`AWS credentials: answered ${response.status}`)
    return (await response.text()).trim()
  }
  const token = await text('api/token', { method: 'PUT', headers: { 'x-aws-ec2-metadata-token-ttl-seconds': '60' } })
  const headers = { 'x-aws-ec2-metadata-token': token }
  const role = await text('meta-data/iam/security-credentials/', { headers })
  const url = `${endpoint}/latest/meta-data/iam/security-credentials/${encodeURIComponent(role)}`
  return fromRole((await ask(url, { headers })).body)
}

const obtain = async (source: AwsCredentialSource): Promise<Expiring<AwsCredentials>> => {
  if (source.source === 'static') return { value: source, lifetimeMs: Number.POSITIVE_INFINITY }
  if (source.source === 'container') return fromContainer(source)
  if (source.source === 'web_identity') return fromWebIdentity(source)
  return fromInstance(source)
}

/** Credentials of one source, renewed before they expire. */
export const awsCredentials = (source: AwsCredentialSource): Renewed<AwsCredentials> => renewed(() => obtain(source))
