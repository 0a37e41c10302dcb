import { createHash, createHmac } from 'node:crypto'

export type AwsCredentials = { access_key_id: string; secret_access_key: string; session_token?: string | undefined }

/** A request to the root path of a service endpoint without a query: all that JSON services such as KMS have. */
export type RootRequest = { method: 'GET' | 'POST'; host: string; headers: Record<string, string>; body: string }

export type SigningScope = { region: string; service: string; now: Date }

const ALGORITHM = 'AWS4-HMAC-SHA256'

const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text, 'utf8').digest()

/**
 * Signs with AWS Signature Version 4 and returns every header to send but `host`.
 * Source: "Create a signed AWS API request", AWS General Reference.
 */
export const signedHeaders = (
  { method, host, headers, body }: RootRequest,
  { access_key_id, secret_access_key, session_token }: AwsCredentials,
  { region, service, now }: SigningScope,
): Record<string, string> => {
  const time = now.toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const day = time.slice(0, 8)
  const sent = {
    ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    'x-amz-date': time,
    ...(session_token === undefined ? {} : { 'x-amz-security-token': session_token }),
  }
  const signed = Object.entries({ ...sent, host }).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const names = signed.map(([name]) => name).join(';')
  const lines = signed.map(([name, value]) => `${name}:${value.trim().replaceAll(/ +/g, ' ')}\n`).join('')
  const canonical = [method, '/', '', lines, names, sha256(body)].join('\n')
  const scope = `${day}/${region}/${service}/aws4_request`
  const key = [day, region, service, 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secret_access_key}`)
  const signature = hmac(key, [ALGORITHM, time, scope, sha256(canonical)].join('\n')).toString('hex')
  const authorization = `${ALGORITHM} Credential=${access_key_id}/${scope}, SignedHeaders=${names}, Signature=${signature}`
  return { ...sent, authorization }
}
