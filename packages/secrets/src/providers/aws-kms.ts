import { IntegrityError, KeyConfigurationError, KeyProviderUnavailable } from '../errors.ts'
import { providerOf, type ConfiguredKeyProvider } from '../key-provider.ts'
import { awsCredentials, type AwsCredentialSource } from './aws-credentials.ts'
import { signedHeaders } from './aws-signature.ts'
import { exchange, persist, textAt, type Answer } from './remote-call.ts'

export type AwsKmsSettings = {
  /** The key's ARN. An alias is refused: it can be pointed at another key. */
  key: string
  /** ARNs of former keys, which only unwrap. */
  previous?: readonly string[] | undefined
  credentials: AwsCredentialSource
  /** Instead of the region's public endpoint. */
  endpoint?: string | undefined
  /** For one wrap or unwrap with its retries. */
  timeoutMs?: number | undefined
}

const KEY_ARN = /^arn:(aws[a-z-]*):kms:([a-z0-9-]+):\d{12}:key\/[A-Za-z0-9-]+$/

const regionOf = (arn: string): { region: string; suffix: string } => {
  const [, partition, region] = KEY_ARN.exec(arn) ?? []
  if (region === undefined)
    throw new KeyConfigurationError('AWS KMS: a key is named by its ARN, arn:aws:kms:REGION:ACCOUNT:key/ID')
  return { region, suffix: partition === 'aws-cn' ? 'amazonaws.com.cn' : 'amazonaws.com' }
}

const errorOf = ({ body }: Answer) => textAt(body, '__type').replace(/^.*#/, '')
const isThrottled = (answer: Answer) => errorOf(answer) === 'ThrottlingException'
const NOT_OURS = new Set(['InvalidCiphertextException', 'IncorrectKeyException'])

/** Readable by whoever reads CloudTrail: it holds ids and nothing else. */
const encryptionContext = (aad: Buffer) => ({ 'keelson:aad': aad.toString('base64') })

/**
 * Wraps with a symmetric key of AWS KMS over its JSON API; the additional data is the encryption context.
 * Source: Encrypt and Decrypt, AWS KMS API Reference.
 */
export const awsKmsProvider = ({
  key,
  previous = [],
  credentials,
  endpoint,
  timeoutMs = 5000,
}: AwsKmsSettings): ConfiguredKeyProvider => {
  const labels = [key, ...previous]
  for (const arn of labels) regionOf(arn)
  const renewedCredentials = awsCredentials(credentials)

  const send = async (arn: string, target: string, payload: object, signal: AbortSignal) => {
    const { region, suffix } = regionOf(arn)
    const url = new URL(endpoint ?? `https://kms.${region}.${suffix}`)
    const body = JSON.stringify({ KeyId: arn, ...payload })
    const headers = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': `TrentService.${target}` }
    const signed = signedHeaders(
      { method: 'POST', host: url.host, headers, body },
      await renewedCredentials.current(),
      {
        region,
        service: 'kms',
        now: new Date(),
      },
    )
    return exchange(url.href, { method: 'POST', headers: signed, body, signal })
  }

  const call = async (arn: string, target: string, payload: object): Promise<Answer> => {
    const kek_id = `aws-kms:${arn}`
    const answer = await persist(kek_id, timeoutMs, (signal) => send(arn, target, payload, signal), isThrottled)
    if (answer.status === 200 && textAt(answer.body, 'KeyId') === arn) return answer
    const error = errorOf(answer)
    if (NOT_OURS.has(error)) throw new IntegrityError('wrapped_key', `AWS KMS: ${error}`)
    if (/Token|Signature|Credential/.test(error)) renewedCredentials.drop()
    throw new KeyProviderUnavailable(kek_id, error || `answered ${answer.status} for another key`)
  }

  return providerOf('aws-kms', labels, {
    encrypt: async (arn, plain, aad) => {
      const payload = { Plaintext: plain.toString('base64'), EncryptionContext: encryptionContext(aad) }
      return Buffer.from(textAt((await call(arn, 'Encrypt', payload)).body, 'CiphertextBlob'), 'base64')
    },
    decrypt: async (arn, wrapped, aad) => {
      const payload = { CiphertextBlob: wrapped.toString('base64'), EncryptionContext: encryptionContext(aad) }
      return Buffer.from(textAt((await call(arn, 'Decrypt', payload)).body, 'Plaintext'), 'base64')
    },
  })
}
