import { createHmac, type KeyObject } from 'node:crypto'
import { equalHex } from './equal-hex.ts'

export const SLACK_TOLERANCE_SECONDS = 300

const SIGNATURE = /^v0=([0-9a-f]{64})$/
const TIMESTAMP = /^\d{10}$/

export type SlackSignature = { timestamp: string; signature: string }

/**
 * Whether Slack signed a body with an app's signing secret within the last or next five minutes: HMAC-SHA256 over
 * `v0:`, the timestamp as its header spells it, `:`, and the bytes as they were received.
 */
export const verifySlack = (
  secret: KeyObject,
  body: Buffer,
  { timestamp, signature }: SlackSignature,
  nowSeconds: number,
): boolean => {
  const isFresh = TIMESTAMP.test(timestamp) && Math.abs(nowSeconds - Number(timestamp)) <= SLACK_TOLERANCE_SECONDS
  const hmac = createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body)
  return equalHex(hmac, SIGNATURE.exec(signature)?.[1]) && isFresh
}
