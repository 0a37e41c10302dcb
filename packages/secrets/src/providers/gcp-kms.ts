import { IntegrityError, KeyConfigurationError, KeyProviderUnavailable } from '../errors.ts'
import { providerOf, type ConfiguredKeyProvider } from '../key-provider.ts'
import { crc32c } from './crc32c.ts'
import { gcpToken, type GcpCredentialSource } from './gcp-token.ts'
import { exchange, persist, textAt, type Answer } from './remote-call.ts'

export type GcpKmsSettings = {
  /** `projects/P/locations/L/keyRings/R/cryptoKeys/K`: the key, whose primary version wraps. */
  key: string
  /** Names of former keys, which only unwrap. */
  previous?: readonly string[] | undefined
  credentials: GcpCredentialSource
  endpoint?: string | undefined
  /** For one wrap or unwrap with its retries. */
  timeoutMs?: number | undefined
}

const KEY_NAME = /^projects\/[^/]+\/locations\/[^/]+\/keyRings\/[^/]+\/cryptoKeys\/[^/]+$/

const checksummed = (field: string, bytes: Buffer) => ({
  [field]: bytes.toString('base64'),
  [`${field}Crc32c`]: String(crc32c(bytes)),
})

const matches = (body: Answer['body'], field: string): boolean =>
  textAt(body, `${field}Crc32c`) === String(crc32c(Buffer.from(textAt(body, field), 'base64')))

const errorOf = ({ body }: Answer) => textAt(body, 'error', 'status')

/** Google answers a request damaged on its way like a ciphertext that is not its own, except for the message. */
const isDamaged = (answer: Answer) =>
  errorOf(answer) === 'INVALID_ARGUMENT' && /crc32c|checksum/i.test(textAt(answer.body, 'error', 'message'))

const isSoundEncrypt =
  (name: string) =>
  ({ status, body }: Answer) =>
    status !== 200 ||
    (body.verifiedPlaintextCrc32c === true &&
      body.verifiedAdditionalAuthenticatedDataCrc32c === true &&
      textAt(body, 'name').startsWith(`${name}/cryptoKeyVersions/`) &&
      matches(body, 'ciphertext'))

const isSoundDecrypt = ({ status, body }: Answer) => status !== 200 || matches(body, 'plaintext')

/**
 * Wraps with a symmetric key of Google Cloud KMS over REST. Every CRC-32C the API offers is sent and checked, both ways.
 * Source: cryptoKeys.encrypt and cryptoKeys.decrypt, Cloud KMS REST reference; "Verify end-to-end data integrity".
 */
export const gcpKmsProvider = (settings: GcpKmsSettings): ConfiguredKeyProvider => {
  const { key, previous = [], credentials, endpoint = 'https://cloudkms.googleapis.com', timeoutMs = 5000 } = settings
  const labels = [key, ...previous]
  if (!labels.every((name) => KEY_NAME.test(name))) {
    throw new KeyConfigurationError('GCP KMS: a key is named projects/P/locations/L/keyRings/R/cryptoKeys/K')
  }
  const token = gcpToken(credentials)

  const send = async (path: string, payload: object, signal: AbortSignal): Promise<Answer> => {
    const headers = { authorization: `Bearer ${await token.current()}`, 'content-type': 'application/json' }
    const answer = await exchange(`${endpoint}/v1/${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(payload),
      signal,
    })
    if (answer.status === 401) token.drop()
    return answer
  }

  const call = async (name: string, verb: string, payload: object, isSound: (answer: Answer) => boolean) => {
    const kek_id = `gcp-kms:${name}`
    const unusable = (answer: Answer) => answer.status === 401 || isDamaged(answer) || !isSound(answer)
    const answer = await persist(kek_id, timeoutMs, (signal) => send(`${name}:${verb}`, payload, signal), unusable)
    if (answer.status === 200) return answer.body
    if (verb === 'decrypt' && errorOf(answer) === 'INVALID_ARGUMENT')
      throw new IntegrityError('wrapped_key', 'GCP KMS: INVALID_ARGUMENT')
    throw new KeyProviderUnavailable(kek_id, errorOf(answer) || `answered ${answer.status}`)
  }

  return providerOf('gcp-kms', labels, {
    encrypt: async (name, plain, aad) => {
      const payload = { ...checksummed('plaintext', plain), ...checksummed('additionalAuthenticatedData', aad) }
      return Buffer.from(textAt(await call(name, 'encrypt', payload, isSoundEncrypt(name)), 'ciphertext'), 'base64')
    },
    decrypt: async (name, wrapped, aad) => {
      const payload = { ...checksummed('ciphertext', wrapped), ...checksummed('additionalAuthenticatedData', aad) }
      return Buffer.from(textAt(await call(name, 'decrypt', payload, isSoundDecrypt), 'plaintext'), 'base64')
    },
  })
}
