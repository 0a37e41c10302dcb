import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from './logger.ts'

export type RepeatOptions = {
  name: string
  intervalMs: number
  log: Logger
  /** Returns whether there is more to do at once; `signal` fires when the loop is disposed. */
  work: (signal: AbortSignal) => Promise<boolean>
}

/**
 * Does something again and again until disposed, which waits for the round under way. The pauses are jittered, so that
 * several workers do not act in step; a round that fails is logged and followed by the next.
 */
export const repeat = ({ name, intervalMs, log, work }: RepeatOptions): AsyncDisposable => {
  const stopping = new AbortController()
  const round = async (): Promise<boolean> => {
    try {
      return await work(stopping.signal)
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
