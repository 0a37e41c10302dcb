/** Operations per second of `clients` callers that each wait for their answer, after a warm-up. */
export const rateOf = async (
  clients: number,
  operation: (client: number) => Promise<unknown>,
  seconds: number,
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
  await run(performance.now() + seconds * 250)
  const started = performance.now()
  const count = await run(started + seconds * 1000)
  return (count * 1000) / (performance.now() - started)
}
