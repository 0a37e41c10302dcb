import { randomBytes } from 'node:crypto'
import { fakeDecrypt, fakeEncrypt } from './fake-cipher.ts'
import { startFake, type FakeAnswer } from './fake-service.ts'

type Payload = { plaintext?: string; ciphertext?: string; associated_data?: string }
type TransitKey = { versions: Buffer[]; min_decryption_version: number }

const refusal = (status: number, ...errors: string[]): FakeAnswer => ({ status, body: { errors } })

/** The transit engine of OpenBao and Vault as far as encrypt and decrypt go: key versions, policy and associated data enforced. */
export const startVaultTransit = async (mount = 'transit') => {
  const key = (): TransitKey => ({ versions: [randomBytes(32)], min_decryption_version: 1 })
  const keys = new Map([
    ['keelson', key()],
    ['former', key()],
  ])
  const settings = {
    token: 'hvs.example',
    namespace: undefined as string | undefined,
    sealed: false,
    ignoresAssociatedData: false,
  }

  const aadOf = ({ associated_data = '' }: Payload) =>
    Buffer.from(settings.ignoresAssociatedData ? '' : associated_data, 'base64')

  const encrypt = ({ versions }: TransitKey, payload: Payload): FakeAnswer => {
    const sealed = fakeEncrypt(versions.at(-1)!, aadOf(payload), payload.plaintext)
    const ciphertext = `vault:v${versions.length}:${sealed.toString('base64')}`
    return { status: 200, body: { request_id: 'r', data: { ciphertext, key_version: versions.length } } }
  }

  const decrypt = ({ versions, min_decryption_version }: TransitKey, payload: Payload): FakeAnswer => {
    const [prefix, version = '', text] = (payload.ciphertext ?? '').split(':')
    if (prefix !== 'vault' || !version.startsWith('v')) return refusal(400, 'invalid ciphertext: no prefix')
    if (text === undefined) return refusal(400, 'invalid ciphertext: wrong number of fields')
    const number = Number(version.slice(1))
    if (number > versions.length) return refusal(400, 'invalid ciphertext: version is too new')
    if (number < min_decryption_version)
      return refusal(400, 'ciphertext or signature version is disallowed by policy (too old)')
    const plain = fakeDecrypt(versions[number - 1]!, aadOf(payload), text)
    if (!plain) return refusal(400, 'cipher: message authentication failed')
    return { status: 200, body: { request_id: 'r', data: { plaintext: plain.toString('base64') } } }
  }

  const fake = await startFake(({ path, headers, body, method }) => {
    if (settings.sealed) return refusal(503, 'Vault is sealed')
    if (headers['x-vault-token'] !== settings.token || headers['x-vault-namespace'] !== settings.namespace)
      return refusal(403, 'permission denied')
    const [, verb, name = ''] = new RegExp(`^/v1/${mount}/(encrypt|decrypt)/([^/]+)$`).exec(path) ?? []
    if (verb === undefined) return refusal(404, `no handler for route "${path.slice(4)}"`)
    if (method !== 'POST' && method !== 'PUT') return refusal(405, 'unsupported operation')
    const payload = JSON.parse(body) as Payload
    const named = keys.get(name)
    if (!named)
      return refusal(
        verb === 'encrypt' ? 403 : 400,
        verb === 'encrypt' ? 'permission denied' : 'encryption key not found',
      )
    return verb === 'encrypt' ? encrypt(named, payload) : decrypt(named, payload)
  })
  return { ...fake, keys, settings, rotate: (name: string) => keys.get(name)!.versions.push(randomBytes(32)) }
}
