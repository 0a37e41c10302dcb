/**
 * Callers who wait until they are let go, at most `limitMs`. One timer is for all who come while it runs: one for each would
 * cost more than what they wait for.
 */
export const patience = (limitMs: number) => {
  let waiting: PromiseWithResolvers<void> | null = null
  let timer: NodeJS.Timeout | undefined
  const letGo = (): void => {
    clearTimeout(timer)
    waiting?.resolve()
    waiting = null
  }
  return {
    wait: (): Promise<void> => {
      if (waiting) return waiting.promise
      waiting = Promise.withResolvers<void>()
      timer = setTimeout(letGo, limitMs)
      return waiting.promise
    },
    letGo,
  }
}
