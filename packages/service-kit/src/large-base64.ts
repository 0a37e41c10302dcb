import { Base64Bytes } from '@keelson/contracts'

/** Smaller ones are cheaper as strings. */
export const LARGE = 32_768
/** A large run fills at least one of the steps. */
const STEP = LARGE / 2

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** A body whose large base64 was cut out, and what stood behind which opening quote of the text that is left. */
export type CutBody = { text: string; base64: ReadonlyMap<number, Base64Bytes> }

type Run = { start: number; base64: Base64Bytes }

/**
 * A long run of base64 between two quotes is the whole of a string: between strings stands a comma or a colon at least,
 * which is none of its letters. The first quote could only be an escaped one.
 */
const runAt = (body: Buffer, start: number, end: number): Run | null => {
  if (end - start < LARGE || body[start - 2] === BACKSLASH) return null
  const base64 = Base64Bytes.from(body.subarray(start, end))
  return base64 && { start, base64 }
}

const runsOf = (body: Buffer): Run[] => {
  const runs: Run[] = []
  for (let at = STEP; at < body.length; at += STEP) {
    const end = body.indexOf(QUOTE, at)
    if (end === -1) break
    if (end - at < STEP) continue
    const run = runAt(body, body.lastIndexOf(QUOTE, at) + 1, end)
    if (run) runs.push(run)
    at = end
  }
  return runs
}

/**
 * Cuts large base64 out of a body, in steps rather than byte by byte.
 *
 * @returns `null` when there is none
 */
export const cutBase64 = (body: Buffer, decode: (bytes: Uint8Array) => string): CutBody | null => {
  const base64 = new Map<number, Base64Bytes>()
  let text = ''
  let from = 0
  for (const run of runsOf(body)) {
    text += decode(body.subarray(from, run.start))
    base64.set(text.length - 1, run.base64)
    from = run.start + run.base64.length
  }
  return base64.size === 0 ? null : { text: text + decode(body.subarray(from)), base64 }
}
