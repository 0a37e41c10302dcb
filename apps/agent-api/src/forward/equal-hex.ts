import { timingSafeEqual, type Hmac } from 'node:crypto'

const NOTHING = Buffer.alloc(32)

/** Whether 64 hexadecimal digits are what an HMAC-SHA256 comes to. A missing text takes as long as a wrong one. */
export const equalHex = (hmac: Hmac, hex: string | undefined): boolean => {
  const given = hex === undefined ? NOTHING : Buffer.from(hex, 'hex')
  return timingSafeEqual(hmac.digest(), given) && hex !== undefined
}
