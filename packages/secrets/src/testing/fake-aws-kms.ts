import { createHash, createHmac, randomBytes } from 'node:crypto'
import { fakeDecrypt, fakeEncrypt } from './fake-cipher.ts'
import { startFake, type FakeAnswer, type FakeRequest } from './fake-service.ts'

export const ARN = 'arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab'
export const OLD_ARN = 'arn:aws:kms:eu-central-1:111122223333:key/mrk-0987dcba09fe87dc65ba43210987dcba'

/** The credentials the fake knows; tests change them. */
export const awsIdentity = () => ({
  access_key_id: 'AKIDEXAMPLE',
  secret_access_key: 'wJalrXUtnFEMI',
  session_token: 'session',
})

const hmac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest()
const sha256 = (data: string) => createHash('sha256').update(data).digest('hex')

/** Verifies a Version 4 signature from what arrived, on its own. */
const signatureProblem = (request: FakeRequest, identity: ReturnType<typeof awsIdentity>): string | null => {
  const parts =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/kms\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/.exec(
      request.headers.authorization ?? '',
    )
  if (!parts) return 'IncompleteSignatureException'
  const [, id, day, region, names = '', signature] = parts
  const date = request.headers['x-amz-date'] ?? ''
  const sentAt = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
  if (!(Math.abs(Date.now() - sentAt) < 300_000) || !date.startsWith(day!)) return 'InvalidSignatureException'
  if (id !== identity.access_key_id || request.headers['x-amz-security-token'] !== identity.session_token)
    return 'UnrecognizedClientException'
  const required = ['host', 'x-amz-date', 'x-amz-security-token', 'x-amz-target']
  if (!required.every((name) => names.split(';').includes(name))) return 'InvalidSignatureException'
  const lines = names.split(';').map((name) => `${name}:${request.headers[name]}`)
  const canonical = ['POST', request.path, '', ...lines, '', names, sha256(request.body)].join('\n')
  const scope = `${day}/${region}/kms/aws4_request`
  const key = hmac(hmac(hmac(hmac(`AWS4${identity.secret_access_key}`, day!), region!), 'kms'), 'aws4_request')
  const expected = hmac(key, `AWS4-HMAC-SHA256\n${date}\n${scope}\n${sha256(canonical)}`).toString('hex')
  return expected === signature ? null : 'InvalidSignatureException'
}

type Payload = {
  KeyId?: string
  Plaintext?: string
  CiphertextBlob?: string
  EncryptionContext?: Record<string, unknown>
}

const refusal = (type: string): FakeAnswer => ({ status: 400, body: { __type: type, message: null } })

const contextBytes = (context: Record<string, unknown> = {}) =>
  Buffer.from(JSON.stringify(Object.entries(context).toSorted(([a], [b]) => (a < b ? -1 : 1))))

/** AWS KMS as far as Encrypt and Decrypt go: signatures checked, encryption context and key id enforced. */
export const startAwsKms = async (identity = awsIdentity()) => {
  const keys = new Map([ARN, OLD_ARN].map((arn) => [arn, randomBytes(32)]))

  const encrypt = (arn: string, { Plaintext, EncryptionContext }: Payload): FakeAnswer => {
    const sealed = fakeEncrypt(keys.get(arn)!, contextBytes(EncryptionContext), Plaintext)
    const CiphertextBlob = Buffer.from(`${arn}|${sealed.toString('base64')}`).toString('base64')
    return { status: 200, body: { CiphertextBlob, KeyId: arn, EncryptionAlgorithm: 'SYMMETRIC_DEFAULT' } }
  }

  const decrypt = (arn: string, { CiphertextBlob = '', EncryptionContext }: Payload): FakeAnswer => {
    const [owner = '', sealed] = Buffer.from(CiphertextBlob, 'base64').toString().split('|')
    if (!keys.has(owner)) return refusal('InvalidCiphertextException')
    if (owner !== arn) return refusal('IncorrectKeyException')
    const plain = fakeDecrypt(keys.get(arn)!, contextBytes(EncryptionContext), sealed)
    if (!plain) return refusal('InvalidCiphertextException')
    const body = { Plaintext: plain.toString('base64'), KeyId: arn, EncryptionAlgorithm: 'SYMMETRIC_DEFAULT' }
    return { status: 200, body }
  }

  const fake = await startFake((request) => {
    const problem = signatureProblem(request, identity)
    if (problem) return refusal(problem)
    if (request.headers['content-type'] !== 'application/x-amz-json-1.1') return refusal('SerializationException')
    const payload = JSON.parse(request.body) as Payload
    const values = Object.values(payload.EncryptionContext ?? {})
    if (!values.every((value) => typeof value === 'string')) return refusal('SerializationException')
    const arn = payload.KeyId ?? ''
    if (!keys.has(arn)) return refusal('com.amazonaws.kms#NotFoundException')
    if (request.headers['x-amz-target'] === 'TrentService.Encrypt') return encrypt(arn, payload)
    if (request.headers['x-amz-target'] === 'TrentService.Decrypt') return decrypt(arn, payload)
    return refusal('UnknownOperationException')
  })
  return { ...fake, keys, identity }
}
