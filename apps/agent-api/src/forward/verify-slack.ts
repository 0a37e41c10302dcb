import type { KeyObject } from 'node:crypto'
import { hmac, isSameMac } from './hmac.ts'

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
  const mac = hmac(secret, `v0:${timestamp}:`, body, 'hex')
  return isSameMac(mac, SIGNATURE.exec(signature)?.[1]) && isFresh
}
