const MAX_FIELD_BYTES = 255

/** The bytes of a text that names something. Two different texts never give the same bytes. */
export const nameBytes = (field: string, text: string): Buffer => {
  const bytes = Buffer.from(text, 'utf8')
  if (bytes.length === 0 || bytes.length > MAX_FIELD_BYTES || !text.isWellFormed()) {
    throw new RangeError(`${field} must be 1 to ${MAX_FIELD_BYTES} bytes of well-formed text`)
  }
  return bytes
}

/** A count from 0 to 2^53 - 1 as eight bytes, big-endian. */
export const countBytes = (field: string, count: number): Buffer => {
  if (!Number.isSafeInteger(count) || count < 0) throw new RangeError(`${field} must be a non-negative safe integer`)
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(count))
  return bytes
}

/** Joins parts so that no two lists of parts give the same bytes: each is preceded by its length as u32be. */
export const lengthPrefixed = (...parts: readonly Buffer[]): Buffer =>
  Buffer.concat(
    parts.flatMap((part) => {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(part.length)
      return [length, part]
    }),
  )
