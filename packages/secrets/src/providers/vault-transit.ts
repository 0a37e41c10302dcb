import { readFile } from 'node:fs/promises'
import { IntegrityError, KeyConfigurationError, KeyProviderUnavailable } from '../errors.ts'
import { providerOf, type ConfiguredKeyProvider } from '../key-provider.ts'
import { exchange, persist, textAt, type Answer } from './remote-call.ts'

export type VaultTransitSettings = {
  address: string
  /** Name of a transit key of an authenticated type, for instance `aes256-gcm96`. */
  key: string
  /** Names of former keys in the same mount, which only unwrap. */
  previous?: readonly string[] | undefined
  /** Where the transit engine is mounted; `transit` when left out. */
  mount?: string | undefined
  namespace?: string | undefined
  /** A token, or a file kept current by an agent and read for every call. */
  token: { value: string } | { file: string }
  /** For one wrap or unwrap with its retries. */
  timeoutMs?: number | undefined
}

const KEY_NAME = /^\w[\w.-]*$/
const NOT_OURS = /message authentication failed|^invalid ciphertext/

const errorOf = ({ body }: Answer): string =>
  Array.isArray(body.errors) ? body.errors.filter((error) => typeof error === 'string').join('; ') : ''

/**
 * Wraps with the transit engine of OpenBao or Vault. The key's own versions are the engine's business: they are in the
 * ciphertext. Source: transit API reference, encrypt and decrypt with `associated_data`.
 */
export const vaultTransitProvider = (settings: VaultTransitSettings): ConfiguredKeyProvider => {
  const { address, key, previous = [], mount = 'transit', namespace, token, timeoutMs = 5000 } = settings
  const names = [key, ...previous]
  if (!names.every((name) => KEY_NAME.test(name))) {
    throw new KeyConfigurationError('Vault transit: a key name holds letters, digits, "_", "-" and "."')
  }

  const send = async (path: string, payload: object, signal: AbortSignal): Promise<Answer> => {
    const headers = {
      'content-type': 'application/json',
      'x-vault-request': 'true',
      'x-vault-token': 'file' in token ? (await readFile(token.file, 'utf8')).trim() : token.value,
      ...(namespace === undefined ? {} : { 'x-vault-namespace': namespace }),
    }
    const url = `${address.replace(/\/+$/, '')}/v1/${mount}/${path}`
    return exchange(url, { method: 'POST', headers, body: JSON.stringify(payload), signal })
  }

  const call = async (label: string, verb: 'encrypt' | 'decrypt', payload: object, field: string): Promise<string> => {
    const kek_id = `vault-transit:${label}`
    const path = `${verb}/${label.slice(mount.length + 1)}`
    const answer = await persist(kek_id, timeoutMs, (signal) => send(path, payload, signal))
    const result = textAt(answer.body, 'data', field)
    if (answer.status === 200 && result) return result
    const error = errorOf(answer)
    if (verb === 'decrypt' && answer.status === 400 && NOT_OURS.test(error)) {
      throw new IntegrityError('wrapped_key', `transit: ${error}`)
    }
    throw new KeyProviderUnavailable(kek_id, `answered ${answer.status} ${error}`.trim())
  }

  return providerOf(
    'vault-transit',
    names.map((name) => `${mount}/${name}`),
    {
      encrypt: async (label, plain, aad) => {
        const payload = { plaintext: plain.toString('base64'), associated_data: aad.toString('base64') }
        return Buffer.from(await call(label, 'encrypt', payload, 'ciphertext'), 'utf8')
      },
      decrypt: async (label, wrapped, aad) => {
        const payload = { ciphertext: wrapped.toString('utf8'), associated_data: aad.toString('base64') }
        return Buffer.from(await call(label, 'decrypt', payload, 'plaintext'), 'base64')
      },
    },
  )
}
