import { randomBytes } from 'node:crypto'
import { crc32c } from '../providers/crc32c.ts'
import { fakeDecrypt, fakeEncrypt } from './fake-cipher.ts'
import { gcpTokens } from './fake-gcp-token.ts'
import { startFake, type FakeAnswer, type FakeRequest } from './fake-service.ts'

export const KEY_NAME = 'projects/p-1/locations/europe-west3/keyRings/keelson/cryptoKeys/account-keys'
export const OLD_KEY_NAME = 'projects/p-1/locations/global/keyRings/keelson/cryptoKeys/former'

const refusal = (status: number, name: string, message: string): FakeAnswer => ({
  status,
  body: { error: { code: status, message, status: name } },
})

const damagedField = (payload: Record<string, string | undefined>): string | undefined =>
  ['plaintext', 'ciphertext', 'additionalAuthenticatedData'].find((field) => {
    const sum = payload[`${field}Crc32c`]
    return sum !== undefined && Number(sum) !== crc32c(Buffer.from(payload[field] ?? '', 'base64'))
  })

type Payload = Record<string, string | undefined>

const aadOf = ({ additionalAuthenticatedData = '' }: Payload) => Buffer.from(additionalAuthenticatedData, 'base64')

const encrypt = (name: string, key: Buffer, payload: Payload): FakeAnswer => {
  const ciphertext = fakeEncrypt(key, aadOf(payload), payload.plaintext)
  const body = {
    name: `${name}/cryptoKeyVersions/3`,
    ciphertext: ciphertext.toString('base64'),
    ciphertextCrc32c: String(crc32c(ciphertext)),
    ...(payload.plaintextCrc32c && { verifiedPlaintextCrc32c: true }),
    ...(payload.additionalAuthenticatedDataCrc32c && { verifiedAdditionalAuthenticatedDataCrc32c: true }),
    protectionLevel: 'SOFTWARE',
  }
  return { status: 200, body }
}

const decrypt = (key: Buffer, payload: Payload): FakeAnswer => {
  const plain = fakeDecrypt(key, aadOf(payload), payload.ciphertext)
  if (!plain) return refusal(400, 'INVALID_ARGUMENT', 'Decryption failed: the ciphertext is invalid.')
  const plaintextCrc32c = String(crc32c(plain))
  const body = { plaintext: plain.toString('base64'), plaintextCrc32c, usedPrimary: true, protectionLevel: 'SOFTWARE' }
  return { status: 200, body }
}

/** Cloud KMS as far as encrypt and decrypt go, with its token endpoints: additional data enforced, checksums sent and checked. */
export const startGcpKms = async () => {
  const keys = new Map([KEY_NAME, OLD_KEY_NAME].map((name) => [name, randomBytes(32)]))
  const { tokens, answer: answerForToken, accountFor } = gcpTokens()

  const answer = (request: FakeRequest): FakeAnswer => {
    const token = answerForToken(request)
    if (token) return token
    const isKnown = request.headers.authorization === `Bearer ${tokens.valid}`
    if (!isKnown) return refusal(401, 'UNAUTHENTICATED', 'Invalid credentials.')
    const [, name = '', verb] = /^\/v1\/(.+):(encrypt|decrypt)$/.exec(request.path) ?? []
    const key = keys.get(name)
    if (!key) return refusal(404, 'NOT_FOUND', `CryptoKey ${name} not found.`)
    const payload = JSON.parse(request.body) as Payload
    const field = damagedField(payload)
    const damage = `The checksum in field ${field}_crc32c did not match the data in field ${field}.`
    if (field) return refusal(400, 'INVALID_ARGUMENT', damage)
    return verb === 'encrypt' ? encrypt(name, key, payload) : decrypt(key, payload)
  }

  const state = { answer }
  const fake = await startFake((request) => state.answer(request))
  return { ...fake, keys, tokens, account: accountFor(fake.url), state }
}
