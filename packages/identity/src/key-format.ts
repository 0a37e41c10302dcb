import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** What a key of each kind starts with. An agent is a service account whose keys are recognised as an agent's. */
export const KEY_PREFIXES = { user: 'kluser', service_account: 'klsvc', agent: 'klagent' } as const

export type KeyKind = keyof typeof KEY_PREFIXES

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_LENGTH = 43
const CHECKSUM_LENGTH = 6

/** Finds keys inside other text; {@link isKey} decides whether a find is one. */
export const KEY_PATTERN = /(?<![0-9A-Za-z])(?:kluser|klsvc|klagent)_[0-9A-Za-z]{49}(?![0-9A-Za-z])/g

/** Bytes from 248 on are dropped, so that every character is equally likely: 43 of them hold 256 bits. */
const randomBase62 = (length: number): string => {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length)) if (byte < 248 && text.length < length) text += BASE62[byte % 62]
  }
  return text
}

/** CRC-32 (as in zlib) in six base62 digits: tells a typo or a look-alike from a key before anything is looked up. */
export const checksum = (text: string): string => {
  let rest = crc32(text)
  let digits = ''
  for (let place = 0; place < CHECKSUM_LENGTH; place += 1) {
    digits = BASE62[rest % 62] + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

/** A new key: `prefix_`, 43 random base62 characters, checksum of all that. */
export const generateKey = (kind: KeyKind): string => {
  const body = `${KEY_PREFIXES[kind]}_${randomBase62(RANDOM_LENGTH)}`
  return body + checksum(body)
}

const SHAPES = {
  user: /^kluser_[0-9A-Za-z]{49}$/,
  service_account: /^klsvc_[0-9A-Za-z]{49}$/,
  agent: /^klagent_[0-9A-Za-z]{49}$/,
} as const satisfies Record<KeyKind, RegExp>

/** Whether a text has the form of a key of one of these kinds, checksum included. Says nothing about who issued it. */
export const isKey = (text: string, ...kinds: [KeyKind, ...KeyKind[]]): boolean =>
  kinds.some((kind) => SHAPES[kind].test(text)) &&
  checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH)

/** What people recognise a key by: its prefix and four characters, far too few to guess the rest. */
export const hintOf = (key: string): string => key.slice(0, key.indexOf('_') + 5)
