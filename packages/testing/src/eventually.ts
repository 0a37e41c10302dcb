import { setTimeout as delay } from 'node:timers/promises'

/**
 * Calls `attempt` until it neither throws nor rejects, and resolves with its result.
 *
 * @param options.deadlineMs gives up after this long (default 10 s) and rejects with the last error
 */
export const eventually = async <T>(
  attempt: () => T | Promise<T>,
  { deadlineMs = 10_000, intervalMs = 20 } = {},
): Promise<T> => {
  const deadline = Date.now() + deadlineMs
  while (true) {
    try {
      return await attempt()
    } catch (error) {
      if (Date.now() > deadline) throw error
    }
    await delay(intervalMs)
  }
}
