type Line = { readonly account_id: string; readonly waiting: PromiseWithResolvers<void>[] }

/** Those who wait for something: accounts take turns, and in each it is first come, first served. */
export const accountTurns = () => {
  // No Map: the tables that one leaves behind as it changes keep what they held alive until old space is collected.
  const lines: Line[] = []

  return {
    /** Whether nobody waits. */
    get areOver(): boolean {
      return lines.length === 0
    },
    /** Resolves when the turn of whoever waits has come; rejects when it is refused. */
    wait: (account_id: string): Promise<void> => {
      const turn = Promise.withResolvers<void>()
      const line = lines.find((known) => known.account_id === account_id)
      if (line) line.waiting.push(turn)
      else lines.push({ account_id, waiting: [turn] })
      return turn.promise
    },
    /** Begins the next turn; whose account has had one goes behind the others. */
    beginNext: (): void => {
      const line = lines.shift()
      line?.waiting.shift()?.resolve()
      if (line && line.waiting.length > 0) lines.push(line)
    },
    /** Refuses whoever came last, of the account with most who wait. */
    refuseLast: (error: unknown): void => {
      const lengths = lines.map(({ waiting }) => waiting.length)
      const at = lengths.indexOf(Math.max(...lengths))
      const line = lines[at]
      line?.waiting.pop()?.reject(error)
      if (line?.waiting.length === 0) lines.splice(at, 1)
    },
  }
}
