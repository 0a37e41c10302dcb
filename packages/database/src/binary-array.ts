const OID = { bytea: 17, text: 25 } as const
const HEAD_BYTES = 20
const NO_ITEMS_BYTES = 12
const NULL_LENGTH = -1

type Value = string | Uint8Array | null

const bytesOf = (value: Value): number => {
  if (value === null) return 0
  return typeof value === 'string' ? Buffer.byteLength(value) : value.length
}

const put = (target: Buffer, at: number, value: string | Uint8Array): number => {
  if (typeof value === 'string') return target.write(value, at)
  target.set(value, at)
  return value.length
}

/** One dimension, which begins at 1, as `array_recv` of Postgres reads it: each item behind its length. */
const encode = (elementType: number, values: readonly Value[]): Buffer => {
  const target = Buffer.allocUnsafe(values.reduce((sum, value) => sum + 4 + bytesOf(value), HEAD_BYTES))
  const dimensions = values.length === 0 ? 0 : 1
  const mayHoldNull = 1
  for (const [index, number] of [dimensions, mayHoldNull, elementType, values.length, 1].entries())
    target.writeInt32BE(number, 4 * index)
  let at = HEAD_BYTES
  for (const value of values) {
    const length = value === null ? NULL_LENGTH : put(target, at + 4, value)
    at = target.writeInt32BE(length, at) + Math.max(0, length)
  }
  return dimensions === 0 ? target.subarray(0, NO_ITEMS_BYTES) : target
}

/** An array in Postgres's binary format: what our patch of the driver finds in `binary` it sends as it is. */
class BinaryArray {
  readonly binary: Buffer

  constructor(elementType: number, values: readonly Value[]) {
    this.binary = encode(elementType, values)
  }
}

/** A parameter of type `text[]` that is neither quoted nor parsed on its way: a column of many rows. */
export const textArray = (values: readonly (string | null)[]): string[] =>
  new BinaryArray(OID.text, values) as unknown as string[]

/** The same of type `bytea[]`. */
export const byteaArray = (values: readonly (Uint8Array | null)[]): Uint8Array[] =>
  new BinaryArray(OID.bytea, values) as unknown as Uint8Array[]
