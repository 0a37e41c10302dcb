import { hash, randomBytes } from 'node:crypto'
import { invalidField } from '@keelson/service-kit'
import type { KeyRow } from './key-row.ts'

type Kind = Pick<KeyRow, 'api_key_type' | 'verification'>

/** The text its owner is told, and the bytes that are kept to verify with. */
export type SecretValue = { told: string; kept: Buffer }

const WHSEC = /^whsec_([A-Za-z0-9+/]{32,88}={0,2})$/

/** The bytes of a Standard Webhooks secret; `null` for anything but `whsec_` and 24 to 64 bytes of base64. */
export const standardWebhookSecret = (text: string): Buffer | null => {
  const bytes = Buffer.from(WHSEC.exec(text)?.[1] ?? '', 'base64')
  return bytes.length >= 24 && bytes.length <= 64 ? bytes : null
}

/** Of a key that is shown, the digest is enough to recognise it. */
export const keyDigest = (key: string): Buffer => hash('sha256', key, 'buffer')

const refuse = (message: string): never => invalidField('api_key', message)

/**
 * A secret as it was brought along, or a new one of 32 random bytes.
 *
 * @throws ApiError `invalid_request` when the source decides the secret and none is given, or it is no `whsec_` one
 */
export const secretValue = ({ api_key_type, verification }: Kind, given: string | undefined): SecretValue => {
  if (verification === 'standard_webhooks') {
    const told = given ?? `whsec_${randomBytes(32).toString('base64')}`
    return { told, kept: standardWebhookSecret(told) ?? refuse('must be whsec_ and 24 to 64 bytes of base64') }
  }
  if (api_key_type === 'slack' && given === undefined) return refuse("is needed for slack: the app's signing secret")
  const told = given ?? randomBytes(32).toString('hex')
  return { told, kept: api_key_type === 'external' ? keyDigest(told) : Buffer.from(told) }
}
