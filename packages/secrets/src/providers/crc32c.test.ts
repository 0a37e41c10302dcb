import { expect, test } from 'vitest'
import { crc32c } from './crc32c.ts'

const counted = Buffer.from(Array.from({ length: 32 }, (_, at) => at))

/** RFC 3720, appendix B.4, and the check value of the CRC catalogue. */
test.each([
  { name: 'zeros', bytes: Buffer.alloc(32), crc: 0x8a91_36aa },
  { name: 'ones', bytes: Buffer.alloc(32, 0xff), crc: 0x62a8_ab43 },
  { name: 'incrementing', bytes: counted, crc: 0x46dd_794e },
  { name: 'decrementing', bytes: counted.toReversed(), crc: 0x113f_db5c },
  { name: 'check value', bytes: Buffer.from('123456789'), crc: 0xe306_9283 },
  { name: 'nothing', bytes: Buffer.alloc(0), crc: 0 },
])('CRC-32C of $name', ({ bytes, crc }) => {
  expect(crc32c(bytes)).toBe(crc)
})
