import type { ServerResponse } from 'node:http'

export type UnreadLimits = {
  /** How long a whole answer may wait for its reader. */
  timeoutMs: number
  /** How long it counts as merely on its way. */
  graceMs: number
  /** What answers that wait longer may hold in memory together. */
  maxBytes: number
}

/**
 * Answers that were given and not yet taken. A reader who takes nothing, or a byte now and then, costs memory until
 * its time is up; where there are too many of them, those who have waited longest go first.
 */
export const unreadAnswers = ({ timeoutMs, graceMs, maxBytes }: UnreadLimits) => {
  const since = new Map<ServerResponse, number>()

  return {
    /** To be told of every answer once it has been written. */
    watch: (outgoing: ServerResponse): void => {
      if (!outgoing.writableEnded || outgoing.writableLength === 0) return
      since.set(outgoing, performance.now())
      outgoing.once('close', () => since.delete(outgoing))
    },
    /** Closes the connections of those who have had enough time. */
    cut: (now = performance.now()): void => {
      let held = 0
      for (const [outgoing, from] of [...since].toReversed()) {
        const waitedMs = now - from
        if (waitedMs > graceMs) held += outgoing.writableLength
        if (waitedMs > timeoutMs || held > maxBytes) outgoing.destroy()
      }
    },
  }
}
