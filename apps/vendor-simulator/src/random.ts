const XID = '0123456789abcdefghijklmnopqrstuv'
const HEX = '0123456789abcdef'

/** Numbers that look random and repeat exactly under the same seed. */
export type Random = {
  /** At least 0, below 1. */
  next: () => number
  /** 20 characters, as the vendor's record ids end. */
  xid: () => string
  uuid: () => string
}

const hash = (text: string): number => {
  let value = 0x811c9dc5
  for (const character of text) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0
  return value
}

/** Mulberry32, seeded by a text: streams of different texts do not disturb each other. */
export const createRandom = (seed: string): Random => {
  let state = hash(seed)
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const text = (alphabet: string, length: number) =>
    Array.from({ length }, () => alphabet[Math.floor(next() * alphabet.length)]).join('')
  return {
    next,
    xid: () => text(XID, 20),
    uuid: () => [8, 4, 4, 4, 12].map((length) => text(HEX, length)).join('-'),
  }
}
