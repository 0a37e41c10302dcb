import { ApiError } from './api-error.ts'
import type { RequestFacts } from './request-facts.ts'

export type RateLimit = { requestsPerSecond: number; burst: number }

const MAX_KEYS = 10_000

type Bucket = { tokens: number; at: number }

/**
 * One token bucket per key, in this process. A key that has been quiet for a while costs no memory. Where a key stands
 * is told as draft-ietf-httpapi-ratelimit-headers-10 says: a quota of the whole bucket, in the time that fills it.
 */
export const rateLimiter = ({ requestsPerSecond, burst }: RateLimit) => {
  const buckets = new Map<string, Bucket>()

  const refill = (bucket: Bucket, now: number): void => {
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) / 1000) * requestsPerSecond)
    bucket.at = now
  }

  const forgetFull = (now: number): void => {
    for (const [key, bucket] of buckets) {
      refill(bucket, now)
      if (bucket.tokens >= burst) buckets.delete(key)
    }
  }

  const policy = `"key";q=${burst};w=${Math.ceil(burst / requestsPerSecond)}`

  /** What a key may still do at once, and after how many seconds that will be more: all of it, or one where it is none. */
  const standing = ({ tokens }: Bucket): Record<string, string> => {
    const missing = tokens < 1 ? 1 - tokens : burst - tokens
    const remaining = `"key";r=${Math.floor(tokens)};t=${Math.ceil(missing / requestsPerSecond)}`
    return { 'ratelimit-policy': policy, ratelimit: remaining }
  }

  /**
   * Takes a token and notes in `facts` where the key stands, for the answer.
   *
   * @throws ApiError `rate_limited` with the time until a token is there
   */
  return (key: string, facts: Pick<RequestFacts, 'rateLimit'>, now = performance.now()): void => {
    const known = buckets.get(key)
    const bucket = known ?? { tokens: burst, at: now }
    if (known) refill(known, now)
    else {
      if (buckets.size >= MAX_KEYS) forgetFull(now)
      buckets.set(key, bucket)
    }
    if (bucket.tokens < 1) {
      facts.rateLimit = standing(bucket)
      throw new ApiError('rate_limited', 'This key sends too many requests', {
        retryAfterSeconds: (1 - bucket.tokens) / requestsPerSecond,
      })
    }
    bucket.tokens -= 1
    facts.rateLimit = standing(bucket)
  }
}
