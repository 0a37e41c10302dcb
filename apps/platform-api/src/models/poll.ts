import { setTimeout as delay } from 'node:timers/promises'

const FIRST_PAUSE_MS = 25
const LONGEST_PAUSE_MS = 500

/**
 * Looks until `isDone` or the wait is over, ever more seldom, and returns what was seen last.
 *
 * @throws AbortError as soon as `signal` fires
 */
export const poll = async <Seen>(
  look: () => Promise<Seen>,
  isDone: (seen: Seen) => boolean,
  { waitMs, signal }: { waitMs: number; signal: AbortSignal },
): Promise<Seen> => {
  const deadline = performance.now() + waitMs
  let pauseMs = FIRST_PAUSE_MS
  for (;;) {
    const seen = await look()
    const leftMs = deadline - performance.now()
    if (isDone(seen) || leftMs <= 0) return seen
    await delay(Math.min(pauseMs, leftMs), undefined, { signal })
    pauseMs = Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS)
  }
}
