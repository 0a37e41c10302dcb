import type { Redis } from 'ioredis'
import type { QueueLog } from './observer.ts'
import { TimedOut, within } from './within.ts'

const BOOT_WAIT_MS = 1_000

/** Redis is set to throw keys away when it is full, which silently breaks a queue. */
export class EvictingRedis extends Error {
  override name = 'EvictingRedis'
  constructor(policy: string) {
    super(`Redis evicts keys (maxmemory-policy ${policy}); a queue needs noeviction`)
  }
}

const assertNoEviction = async (redis: Redis): Promise<void> => {
  const policy = /^maxmemory_policy:(\S+)/m.exec(await redis.info('memory'))?.[1]
  if (policy !== undefined && policy !== 'noeviction') throw new EvictingRedis(policy)
}

/**
 * Looks at the policy each time the connection is made, and waits up to 1 s for the first look. A Redis that is away
 * does not keep a service from starting.
 *
 * @throws EvictingRedis when `evicting` is `refuse` and the first look finds another policy than noeviction
 */
export const watchEvictionPolicy = async (redis: Redis, evicting: 'warn' | 'refuse', log: QueueLog): Promise<void> => {
  const first = Promise.withResolvers<void>()
  first.promise.catch(() => {})
  redis.on('ready', () => {
    const look = assertNoEviction(redis)
    look.then(first.resolve, first.reject)
    look.catch((error: unknown) => log.warn({ err: error }, 'Redis may lose jobs: set maxmemory-policy to noeviction'))
  })
  try {
    await within(first.promise, BOOT_WAIT_MS)
  } catch (error) {
    if (error instanceof EvictingRedis && evicting === 'refuse') throw error
    if (error instanceof TimedOut) log.warn({ err: error }, 'Redis is away: jobs start when the reconciler finds them')
  }
}
