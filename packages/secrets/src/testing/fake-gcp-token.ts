import { generateKeyPairSync, verify } from 'node:crypto'
import type { FakeAnswer, FakeRequest } from './fake-service.ts'

const pair = generateKeyPairSync('rsa', { modulusLength: 2048 })
const EMAIL = 'keelson@p-1.iam.gserviceaccount.com'

const claimsOf = (part = '') => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>

const isGoodAssertion = (jwt: string, audience: string): boolean => {
  const [header, claims, signature = ''] = jwt.split('.')
  const { alg, kid } = claimsOf(header)
  const { aud, iss, scope, iat, exp } = claimsOf(claims)
  const signed = verify(
    'sha256',
    Buffer.from(`${header}.${claims}`),
    pair.publicKey,
    Buffer.from(signature, 'base64url'),
  )
  const isCurrent = Math.abs(Number(iat) * 1000 - Date.now()) < 60_000 && Number(exp) - Number(iat) <= 3600
  const isRight = scope === 'https://www.googleapis.com/auth/cloudkms' && aud === audience && iss === EMAIL
  return signed && isCurrent && isRight && alg === 'RS256' && kid === 'kid-1'
}

/** What hands out Google access tokens: the OAuth endpoint for a signed assertion, the metadata server for its header. */
export const gcpTokens = () => {
  const tokens = { issued: 0, valid: '' }

  const issue = (): FakeAnswer => {
    tokens.valid = `token-${++tokens.issued}`
    const body = { access_token: tokens.valid, expires_in: 3600, token_type: 'Bearer' }
    return { status: 200, body, headers: { 'metadata-flavor': 'Google' } }
  }

  /** The answer to a request for a token, or nothing when it is for something else. */
  const answer = ({ path, headers, body, host }: FakeRequest): FakeAnswer | undefined => {
    if (path.startsWith('/computeMetadata/'))
      return headers['metadata-flavor'] === 'Google' ? issue() : { status: 403, body: '' }
    if (path !== '/token') return undefined
    const form = new URLSearchParams(body)
    const isGrant = form.get('grant_type') === 'urn:ietf:params:oauth:grant-type:jwt-bearer'
    if (isGrant && isGoodAssertion(form.get('assertion') ?? '', `http://${host}/token`)) return issue()
    return { status: 400, body: { error: 'invalid_grant' } }
  }

  const accountFor = (url: string) => ({
    type: 'service_account',
    client_email: EMAIL,
    private_key_id: 'kid-1',
    private_key: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }),
    token_uri: `${url}/token`,
  })

  return { tokens, answer, accountFor }
}
