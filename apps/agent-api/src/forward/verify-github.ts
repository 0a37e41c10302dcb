import type { KeyObject } from 'node:crypto'
import { hmac, isSameMac } from './hmac.ts'

const SIGNATURE = /^sha256=([0-9a-f]{64})$/

/**
 * Whether GitHub signed a body with a secret: `X-Hub-Signature-256` is HMAC-SHA256 over the bytes as they were received.
 * The older `X-Hub-Signature` (SHA-1) is never looked at.
 */
export const verifyGithub = (secret: KeyObject, body: Buffer, signature: string): boolean =>
  isSameMac(hmac(secret, '', body, 'hex'), SIGNATURE.exec(signature)?.[1])
