import type { KeyObject } from 'node:crypto'
import { hmac, isSameMac } from './hmac.ts'

export const WEBHOOK_TOLERANCE_SECONDS = 300

const TIMESTAMP = /^\d{1,11}$/
const ID = /^[^.\s]{1,255}$/
const SIGNATURE = /^v1,([A-Za-z0-9+/]{43}=)$/

/** The three headers of Standard Webhooks 1.0.0. */
export type WebhookSignature = { id: string; timestamp: string; signature: string }

const macOf = (secret: KeyObject, id: string, timestamp: string, body: Buffer): string =>
  hmac(secret, `${id}.${timestamp}.`, body, 'base64')

/** Signs a message as Standard Webhooks has it. */
export const signStandardWebhook = (
  secret: KeyObject,
  { id, body, nowSeconds }: { id: string; body: Buffer; nowSeconds: number },
): WebhookSignature => {
  const timestamp = String(nowSeconds)
  return { id, timestamp, signature: `v1,${macOf(secret, id, timestamp, body)}` }
}

/** Whether one of the signatures of a message is right, and its timestamp within five minutes. */
export const verifyStandardWebhook = (
  secret: KeyObject,
  body: Buffer,
  { id, timestamp, signature }: WebhookSignature,
  nowSeconds: number,
): boolean => {
  const isFresh = TIMESTAMP.test(timestamp) && Math.abs(nowSeconds - Number(timestamp)) <= WEBHOOK_TOLERANCE_SECONDS
  const expected = macOf(secret, id, timestamp, body)
  const given = signature.split(' ').map((one) => SIGNATURE.exec(one)?.[1])
  const isRight = given.some((base64) => isSameMac(expected, base64))
  return isRight && isFresh && ID.test(id)
}
