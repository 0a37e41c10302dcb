import { createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto'
import { keyDigest } from '../agent-api-keys/secret-value.ts'
import { claimedNames } from './claimed-names.ts'
import { opens } from './forward-path.ts'
import type { KeyIndex } from './key-index.ts'
import type { WebhookKey } from './keyring.ts'
import { isForm, parsePayload, textAt, type Payload } from './payload.ts'
import type { Presented } from './presented.ts'
import { verifyGithub } from './verify-github.ts'
import { verifySlack } from './verify-slack.ts'
import { verifyStandardWebhook } from './verify-standard-webhook.ts'

export type UnverifiedRequest = {
  keys: KeyIndex
  presented: Presented
  segments: readonly string[]
  body: Buffer
  contentType: string | undefined
  nowSeconds: number
}

/** A key that a request was proved with, and what its body says, where its source has one that says something. */
export type Verified = { key: WebhookKey; payload: Payload | null }

/** Secrets that may prove a request, and how many are tried even if there are fewer. */
type Candidates = { keys: readonly WebhookKey[]; tries: number }

/** A name has one secret, and while that is being rotated two. */
const TRIES_PER_NAME = 2
/** For requests that do not say what their secret is of, such as Slack's challenge. */
const TRIES_UNNAMED = 16
/** However long the body, as many are tried; beyond, no more bytes than this are hashed for a request. */
const TRIES_ALWAYS = 4
const HASHED_BYTES = 64 * 1024 * 1024

/** Stands in for a secret that is not there, so that there is as much to do. */
const NO_SECRET = createSecretKey(Buffer.alloc(32))

const isChallenge = (payload: Payload): boolean => textAt(payload, 'type') === 'url_verification'

const candidatesOf = ({ keys, presented, body, contentType }: UnverifiedRequest): Candidates => {
  const { scheme } = presented
  if (scheme === 'key') return { keys: keys.shown(keyDigest(presented.key)), tries: 1 }
  if (scheme === 'standard_webhooks') return { keys: keys.signing, tries: TRIES_UNNAMED }
  const names = claimedNames(scheme, body, isForm(contentType))
  if (names.length === 0) return { keys: keys.every(scheme), tries: TRIES_UNNAMED }
  return { keys: names.flatMap((name) => keys.named(scheme, name)), tries: TRIES_PER_NAME * names.length }
}

const isProved = (secret: KeyObject, { presented, body, nowSeconds }: UnverifiedRequest): boolean => {
  if (presented.scheme === 'github') return verifyGithub(secret, body, presented.signature)
  if (presented.scheme === 'slack') return verifySlack(secret, body, presented, nowSeconds)
  if (presented.scheme === 'standard_webhooks') return verifyStandardWebhook(secret, body, presented, nowSeconds)
  return timingSafeEqual(keyDigest(presented.key), secret.export())
}

/** Tries secrets and stand-ins: a request takes as long whether the first, the last or none of them proves it. */
export const provenKeys = (request: UnverifiedRequest): WebhookKey[] => {
  const { keys, tries } = candidatesOf(request)
  const candidates = keys.filter((key) => opens(key.bound, request.segments))
  const most = Math.max(TRIES_ALWAYS, Math.floor(HASHED_BYTES / (request.body.length + 1)))
  const count = Math.min(Math.max(tries, candidates.length), most)
  const proven: WebhookKey[] = []
  for (let index = 0; index < count; index += 1) {
    const key = candidates[index]
    if (isProved(key?.secret ?? NO_SECRET, request) && key) proven.push(key)
  }
  return proven
}

/** Whether the body is from what the key was registered for: GitHub names have no case, Slack's challenge has no app id. */
const isFromItsSource = ({ source, name }: WebhookKey, payload: Payload): boolean => {
  if (source === 'slack') return textAt(payload, 'api_app_id') === name || isChallenge(payload)
  const origins = [textAt(payload, 'repository', 'full_name'), textAt(payload, 'organization', 'login')]
  return origins.some((origin) => origin?.toLowerCase() === name.toLowerCase())
}

/**
 * Finds the key that a request is proved with: over its raw bytes, before they are parsed. `null` whenever there is none,
 * after the same work, be it for an unknown agent, an unknown repository, another path or a wrong signature.
 *
 * @throws ApiError `malformed_request` for a body that is proved and cannot be read
 */
export const verifyRequest = (request: UnverifiedRequest): Verified | null => {
  const [first, ...others] = provenKeys(request)
  if (!first) return null
  if (first.source === 'external') return { key: first, payload: null }
  const payload = parsePayload(request.body, request.contentType)
  const key = [first, ...others].find((one) => isFromItsSource(one, payload))
  return key ? { key, payload } : null
}
