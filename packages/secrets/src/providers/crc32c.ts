const POLYNOMIAL = 0x82f6_3b78

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1
  return value
})

/** The CRC-32C (Castagnoli) of some bytes, as an unsigned number. Source: RFC 3720, appendix B.4. */
export const crc32c = (bytes: Uint8Array): number => {
  let crc = 0xffff_ffff
  for (const byte of bytes) crc = TABLE[(crc ^ byte) & 0xff]! ^ (crc >>> 8)
  return (crc ^ 0xffff_ffff) >>> 0
}
