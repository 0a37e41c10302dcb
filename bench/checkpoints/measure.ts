/** Operations per second of `clients` callers that each wait for their answer, after a warm-up. */
export const measure = async (
  clients: number,
  operation: (client: number) => Promise<unknown>,
  ms: number,
): Promise<number> => {
  const run = async (until: number): Promise<number> => {
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
  await run(performance.now() + ms / 4)
  const started = performance.now()
  const count = await run(started + ms)
  return (count * 1000) / (performance.now() - started)
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2
}
