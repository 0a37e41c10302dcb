import { randomFillSync } from 'node:crypto'

const POOL_BYTES = 8192

const pool = Buffer.allocUnsafe(POOL_BYTES)
let used = POOL_BYTES

/** Random bytes of a pool, which is filled for many at once. They are read at once: the pool will be filled again. */
export const randomBytes = (length: number): Buffer => {
  if (used + length > POOL_BYTES) {
    randomFillSync(pool)
    used = 0
  }
  used += length
  return pool.subarray(used - length, used)
}

/** Random bytes in hexadecimal, for the ids of traces. */
export const randomHex = (length: number): string => randomBytes(length).toString('hex')
