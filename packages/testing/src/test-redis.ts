import { inject } from 'vitest'
import { claimRedisDatabase } from './redis.ts'
import './services.ts'

/**
 * The URL of an empty Redis database for this test file, or null when this machine has no Redis: skip that leg then,
 * `describe.skipIf(url === null)`. With REDIS_URL set, that Redis as it is. Only in `integration` and `e2e`.
 */
export const testRedis = (): string | null => {
  const { redisUrl, redisDirectory } = inject('services')
  if (redisUrl === '') return null
  return redisDirectory === '' ? redisUrl : `${redisUrl}/${claimRedisDatabase(redisDirectory)}`
}
