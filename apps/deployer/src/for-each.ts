/** Calls `work` for each item, at most `concurrency` at a time; the first failure is thrown after all have ended. */
export const forEach = async <Item>(
  items: readonly Item[],
  concurrency: number,
  work: (item: Item) => Promise<unknown>,
): Promise<void> => {
  const queue = items.values()
  const lane = async () => {
    for (const item of queue) await work(item)
  }
  const lanes = await Promise.allSettled(Array.from({ length: concurrency }, lane))
  const failed = lanes.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
}
