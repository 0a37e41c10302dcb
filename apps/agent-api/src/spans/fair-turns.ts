/** Does some work when its turn has come. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>

export type FairTurns = <T>(account_id: string, work: () => Promise<T>, signal?: AbortSignal) => Promise<T>

/**
 * Lets so many be worked on at a time. Accounts take turns; within one it is first come, first served. What is aborted
 * by its turn is not begun.
 */
export const fairTurns = (places: number): FairTurns => {
  const waiting = new Map<string, (() => void)[]>()
  let free = places

  const wait = (account_id: string): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const line = waiting.get(account_id)
    if (line) line.push(resolve)
    else waiting.set(account_id, [resolve])
    return promise
  }

  /** Who has had a turn goes behind the others. */
  const next = (): (() => void) | undefined => {
    const [first] = waiting
    if (!first) return undefined
    const [account_id, line] = first
    waiting.delete(account_id)
    const begin = line.shift()
    if (line.length > 0) waiting.set(account_id, line)
    return begin
  }

  return async (account_id, work, signal) => {
    if (free > 0) free -= 1
    else await wait(account_id)
    try {
      signal?.throwIfAborted()
      return await work()
    } finally {
      const begin = next()
      if (begin) begin()
      else free += 1
    }
  }
}
