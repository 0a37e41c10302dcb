import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '@keelson/service-kit'

export type RepeatOptions = {
  name: string
  intervalMs: number
  log: Logger
  /** Returns whether there is more to do at once. */
  work: () => Promise<boolean>
}

/**
 * Does something again and again until disposed, which waits for the round under way. The pauses are jittered, so that
 * several workers do not act in step; a round that fails is logged and followed by the next.
 */
export const repeat = ({ name, intervalMs, log, work }: RepeatOptions): AsyncDisposable => {
  const stopping = new AbortController()
  const round = async (): Promise<boolean> => {
    try {
      return await work()
    } catch (err) {
      log.warn({ name, err }, 'a round failed')
      return false
    }
  }
  const loop = async () => {
    while (!stopping.signal.aborted) {
      const hasMore = await round()
      const pauseMs = hasMore ? 0 : intervalMs * (0.75 + Math.random() / 2)
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }
  const ended = loop()
  return {
    [Symbol.asyncDispose]: () => {
      stopping.abort()
      return ended
    },
  }
}

/** Calls `work` for each item, at most `concurrency` at a time; the first failure is thrown after all have ended. */
export const forEach = async <Item>(
  items: readonly Item[],
  concurrency: number,
  work: (item: Item) => Promise<unknown>,
): Promise<void> => {
  const queue = items.values()
  const lane = async () => {
    for (const item of queue) await work(item)
  }
  const lanes = await Promise.allSettled(Array.from({ length: concurrency }, lane))
  const failed = lanes.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
}
