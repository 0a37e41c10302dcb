const runUntil = async (until: number, clients: number, operation: (client: number) => Promise<unknown>) => {
  const counts = Array.from({ length: clients }, async (_, client) => {
    let count = 0
    while (performance.now() < until) {
      await operation(client)
      count += 1
    }
    return count
  })
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
}

/** How many operations `clients` callers, who each wait for their answer, get done, and how many in a second. */
export const measure = async (clients: number, operation: (client: number) => Promise<unknown>, seconds: number) => {
  const started = performance.now()
  const count = await runUntil(started + seconds * 1000, clients, operation)
  return { count, perSecond: (count * 1000) / (performance.now() - started) }
}
