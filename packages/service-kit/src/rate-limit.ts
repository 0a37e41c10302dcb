import { ApiError } from './api-error.ts'

export type RateLimit = { requestsPerSecond: number; burst: number }

const MAX_KEYS = 10_000

type Bucket = { tokens: number; at: number }

/** One token bucket per key, in this process. A key that has been quiet for a while costs no memory. */
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

  /** @throws ApiError `rate_limited` with the time until a token is there */
  return (key: string, now = performance.now()): void => {
    const known = buckets.get(key)
    const bucket = known ?? { tokens: burst, at: now }
    if (known) refill(known, now)
    else {
      if (buckets.size >= MAX_KEYS) forgetFull(now)
      buckets.set(key, bucket)
    }
    if (bucket.tokens < 1) {
      throw new ApiError('rate_limited', 'This key sends too many requests', {
        retryAfterSeconds: (1 - bucket.tokens) / requestsPerSecond,
      })
    }
    bucket.tokens -= 1
  }
}
