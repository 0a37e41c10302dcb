import { createSecretKey, hkdfSync, randomFillSync, type KeyObject } from 'node:crypto'
import { KeyConfigurationError } from '../errors.ts'

const KEY_BYTES = 32
const LABEL = /^[0-9a-f]{16}$/

/** A key-encryption key held by this process. */
export type LocalKey = { label: string; key: KeyObject }

/** Eight bytes derived from the key, in hex: names the key and tells nothing about it. */
const labelOf = (key: KeyObject): string =>
  Buffer.from(hkdfSync('sha512', key, Buffer.alloc(0), 'key-encryption key label', 8)).toString('hex')

/** Nobody draws these at random: one step repeated, few values, or text someone typed. */
const looksChosen = (bytes: Buffer): boolean => {
  const steps = new Set(bytes.subarray(1).map((byte, at) => byte - bytes[at]!))
  const printable = bytes.every((byte) => byte >= 0x20 && byte < 0x7f)
  return steps.size === 1 || new Set(bytes).size < KEY_BYTES / 2 || printable
}

const parseKey = (entry: string, where: string): LocalKey => {
  const [text = '', label] = entry.split(':').toReversed()
  const bytes = Buffer.from(text, 'base64')
  try {
    if (bytes.length !== KEY_BYTES || bytes.toString('base64') !== text) {
      throw new KeyConfigurationError(`${where}: a key is ${KEY_BYTES} bytes in base64`)
    }
    if (looksChosen(bytes))
      throw new KeyConfigurationError(`${where}: the key is not random; make one with a random generator`)
    const key = createSecretKey(bytes)
    const own = labelOf(key)
    if (label !== undefined && label !== own) {
      const named = LABEL.test(label) ? `labelled ${label}` : 'with a malformed label'
      throw new KeyConfigurationError(`${where}: the key ${named} is damaged; its label would be ${own}`)
    }
    return { label: own, key }
  } finally {
    bytes.fill(0)
  }
}

/**
 * Reads keys written as `label:base64` or `base64`, separated by commas or white space, `#` comments allowed. The first
 * is current, the others only unwrap.
 *
 * @param where what to call the source in an error; the text itself is never quoted
 * @throws KeyConfigurationError for no key, a wrong length, a weak or damaged key, or one given twice
 */
export const parseKeys = (text: string, where: string): LocalKey[] => {
  const entries = text
    .replaceAll(/#.*$/gm, '')
    .split(/[\s,]+/)
    .filter(Boolean)
  if (entries.length === 0) throw new KeyConfigurationError(`${where}: holds no key`)
  const keys = entries.map((entry) => parseKey(entry, where))
  if (new Set(keys.map(({ label }) => label)).size < keys.length) {
    throw new KeyConfigurationError(`${where}: holds one key twice`)
  }
  return keys
}

/** A new random key, written as {@link parseKeys} reads it. */
export const generateKey = (): string => {
  const bytes = randomFillSync(Buffer.alloc(KEY_BYTES))
  try {
    return `${labelOf(createSecretKey(bytes))}:${bytes.toString('base64')}`
  } finally {
    bytes.fill(0)
  }
}
