import { timingSafeEqual } from 'node:crypto'
import { keyDigest } from '../agent-api-keys/secret-value.ts'
import { opens } from './forward-path.ts'
import type { WebhookKey } from './keyring.ts'
import { parsePayload, textAt, type Payload } from './payload.ts'
import type { Presented } from './presented.ts'
import { verifyGithub } from './verify-github.ts'
import { verifySlack } from './verify-slack.ts'
import { verifyStandardWebhook } from './verify-standard-webhook.ts'

export type UnverifiedRequest = {
  keys: readonly WebhookKey[]
  presented: Presented
  segments: readonly string[]
  body: Buffer
  contentType: string | null
  nowSeconds: number
}

/** A key that a request was proved with, and what its body says, where its source has one that says something. */
export type Verified = { key: WebhookKey; payload: Payload | null }

/** The most bytes that are hashed for one request, however many keys the agent has. */
const HASHED_BYTES = 64 * 1024 * 1024

/** Stands in for the key that is not there, so that there is as much to do. */
const NO_SECRET = Buffer.alloc(32)

const isOf = ({ scheme }: Presented, { source, verification }: WebhookKey): boolean =>
  scheme === 'github' || scheme === 'slack' ? source === scheme : source === 'external' && verification === scheme

const isProved = (secret: Buffer, { presented, body, nowSeconds }: UnverifiedRequest): boolean => {
  if (presented.scheme === 'github') return verifyGithub(secret, body, presented.signature)
  if (presented.scheme === 'slack') return verifySlack(secret, body, presented, nowSeconds)
  if (presented.scheme === 'standard_webhooks') return verifyStandardWebhook(secret, body, presented, nowSeconds)
  const given = keyDigest(presented.key)
  return timingSafeEqual(given, secret.length === given.length ? secret : NO_SECRET)
}

const isChallenge = (payload: Payload): boolean => textAt(payload, 'type') === 'url_verification'

/** Whether the body is from what the key was registered for: GitHub names have no case, Slack's challenge has no app id. */
const isFromItsSource = ({ source, name }: WebhookKey, payload: Payload): boolean => {
  if (source === 'slack') return textAt(payload, 'api_app_id') === name || isChallenge(payload)
  const origins = [textAt(payload, 'repository', 'full_name'), textAt(payload, 'organization', 'login')]
  return origins.some((origin) => origin?.toLowerCase() === name.toLowerCase())
}

/** Keys whose name occurs in the body first: most likely the first one is right. Nothing is decided by this. */
const likelyFirst = (keys: WebhookKey[], body: Buffer): WebhookKey[] =>
  keys.length < 2
    ? keys
    : keys.toSorted((one, other) => Number(body.includes(other.name)) - Number(body.includes(one.name)))

/**
 * Finds the key that a request is proved with: over its raw bytes, before they are parsed. `null` whenever there is none,
 * after the same work, be it for an unknown agent, an unknown repository, another path or a wrong signature.
 *
 * @throws ApiError `malformed_request` for a body that is proved and cannot be read
 */
export const verifyRequest = (request: UnverifiedRequest): Verified | null => {
  const { keys, presented, segments, body, contentType } = request
  const candidates = likelyFirst(
    keys.filter((key) => isOf(presented, key) && opens(key.bound, segments)),
    body,
  )
  if (candidates.length === 0) isProved(NO_SECRET, request)
  const most = Math.max(2, Math.floor(HASHED_BYTES / (body.length + 64)))
  let payload: Payload | null = null
  for (const key of candidates.slice(0, most)) {
    if (!isProved(key.secret, request)) continue
    if (key.source === 'external') return { key, payload: null }
    payload ??= parsePayload(body, contentType)
    if (isFromItsSource(key, payload)) return { key, payload }
  }
  return null
}
