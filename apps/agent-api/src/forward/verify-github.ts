import { createHmac, type KeyObject } from 'node:crypto'
import { equalHex } from './equal-hex.ts'

const SIGNATURE = /^sha256=([0-9a-f]{64})$/

/**
 * Whether GitHub signed a body with a secret: `X-Hub-Signature-256` is HMAC-SHA256 over the bytes as they were received.
 * The older `X-Hub-Signature` (SHA-1) is never looked at.
 */
export const verifyGithub = (secret: KeyObject, body: Buffer, signature: string): boolean =>
  equalHex(createHmac('sha256', secret).update(body), SIGNATURE.exec(signature)?.[1])
