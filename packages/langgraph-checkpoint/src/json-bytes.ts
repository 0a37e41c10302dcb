/** Bytes whose place in a JSON document is base64. */
export class Base64 {
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
}

/** Parts of a JSON document, one after the other: text as it is, and bytes that become a base64 string. */
export type JsonParts = (string | Base64)[]

// Large values never become strings of their own: those are allocated where only a full collection frees them, and a
// few of them cost more than everything else here. A piece is a multiple of 3 bytes, and of 4 characters.
const PIECE_BYTES = 24_576
const PIECE_CHARACTERS = 32_768

const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array) => Buffer.from(buffer, byteOffset, byteLength)

const base64Length = (bytes: number): number => Math.ceil(bytes / 3) * 4

const lengthOf = (part: string | Base64): number =>
  typeof part === 'string' ? Buffer.byteLength(part) : base64Length(part.bytes.length) + 2

const writeBase64 = (target: Buffer, start: number, bytes: Buffer): number => {
  let at = start
  at += target.write('"', at, 'latin1')
  for (let from = 0; from < bytes.length; from += PIECE_BYTES)
    at += target.write(bytes.toString('base64', from, from + PIECE_BYTES), at, 'latin1')
  return at + target.write('"', at, 'latin1')
}

/** The document that parts make up. */
export const joinJson = (parts: JsonParts): Buffer => {
  const target = Buffer.allocUnsafe(parts.reduce((sum, part) => sum + lengthOf(part), 0))
  let at = 0
  for (const part of parts)
    at = typeof part === 'string' ? at + target.write(part, at) : writeBase64(target, at, asBuffer(part.bytes))
  return target
}

/**
 * Bytes in memory of their own, as a graph may keep them and look at what is beneath: small buffers share a pool, and are
 * copied out of it.
 */
const owned = (bytes: Buffer): Uint8Array =>
  bytes.length === bytes.buffer.byteLength ? new Uint8Array(bytes.buffer) : new Uint8Array(bytes)

const EQUALS = 0x3d

const paddingOf = (text: Buffer): number => {
  if (text.at(-1) !== EQUALS) return 0
  return text.at(-2) === EQUALS ? 2 : 1
}

/** The bytes that base64 text stands for, which is itself given as bytes. */
const decodeBase64 = (text: Buffer): Uint8Array => {
  const bytes = Buffer.allocUnsafeSlow(Math.floor((text.length * 3) / 4) - paddingOf(text))
  let length = 0
  for (let from = 0; from < text.length; from += PIECE_CHARACTERS)
    length += bytes.write(text.toString('latin1', from, from + PIECE_CHARACTERS), length, 'base64')
  return owned(bytes.subarray(0, length))
}

/** What stands for bytes in an answer: base64 as it arrives, bytes once it is read. */
type Value = { blob: string | Uint8Array | null }

const LARGE_CHARACTERS = 4096
const BLOB = Buffer.from('"blob":"')
const QUOTE = 0x22
const BACKSLASH = 0x5c

/** A document without its large blobs: `#` and a number, which is no base64, stands for each. */
const withoutBlobs = (body: Buffer): { json: string; blobs: Buffer[] } => {
  const blobs: Buffer[] = []
  let json = ''
  let from = 0
  for (let found = body.indexOf(BLOB); found !== -1; found = body.indexOf(BLOB, found + BLOB.length)) {
    const start = found + BLOB.length
    const end = body.indexOf(QUOTE, start)
    if (end - start < LARGE_CHARACTERS || body[end - 1] === BACKSLASH) continue
    json += `${body.toString('utf8', from, start)}#${blobs.push(body.subarray(start, end)) - 1}`
    from = end
  }
  return { json: json + body.toString('utf8', from), blobs }
}

/** Parses an answer, with bytes for the base64 of the values in it. */
export const parseAnswer = <Result>(body: Buffer, valuesOf: (result: Result) => Value[]): Result => {
  const read = ({ json, blobs }: ReturnType<typeof withoutBlobs>): Result | null => {
    const result = JSON.parse(json) as Result
    let known = 0
    for (const value of valuesOf(result)) {
      if (typeof value.blob !== 'string') continue
      if (value.blob.startsWith('#')) known += 1
      value.blob = value.blob.startsWith('#')
        ? decodeBase64(blobs[Number(value.blob.slice(1))]!)
        : owned(Buffer.from(value.blob, 'base64'))
    }
    return known === blobs.length ? result : null
  }
  // A member named `blob` may stand in a checkpoint as well, where it has to stay what it is.
  return read(withoutBlobs(body)) ?? read({ json: body.toString(), blobs: [] })!
}
