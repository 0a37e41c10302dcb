/**
 * Places for work, of which no account takes so many that another finds none: with `n` accounts at work, each holds at
 * most one place in `n + 1`.
 */
export const fairShare = (places: number) => {
  const held = new Map<string, number>()
  const give = (account_id: string): void => {
    const left = (held.get(account_id) ?? 1) - 1
    if (left === 0) held.delete(account_id)
    else held.set(account_id, left)
  }
  return {
    /** Works unless the account has its share already; then it does nothing. @returns whether it worked */
    within: async (account_id: string, work: () => Promise<unknown>): Promise<boolean> => {
      const own = held.get(account_id) ?? 0
      const accounts = held.size + (own === 0 ? 1 : 0)
      if (own >= Math.max(1, Math.floor(places / (accounts + 1)))) return false
      held.set(account_id, own + 1)
      try {
        await work()
        return true
      } finally {
        give(account_id)
      }
    },
  }
}
