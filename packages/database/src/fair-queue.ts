export type Queued = { account_id: string; key: string; bytes: number }

export type BatchLimits = { maxItems: number; maxBytes: number }

/** Queues of every account, taken from in turns. */
export type FairQueue<Entry extends Queued> = {
  push: (entry: Entry) => void
  /**
   * One entry of each account in turn until a limit is reached, no two of one key. Accounts whose first entry is of a
   * busy key wait, so that entries of one key keep their order. An entry above the limits goes alone.
   */
  take: (limits: BatchLimits, busyKeys: ReadonlySet<string>) => Entry[]
  readonly isEmpty: boolean
}

export const fairQueue = <Entry extends Queued>(): FairQueue<Entry> => {
  const queues = new Map<string, Entry[]>()

  /** Whoever was served goes to the end of the line. */
  const shift = (account_id: string, queue: Entry[]): void => {
    queue.shift()
    queues.delete(account_id)
    if (queue.length > 0) queues.set(account_id, queue)
  }

  return {
    push: (entry) => {
      const queue = queues.get(entry.account_id)
      if (queue) queue.push(entry)
      else queues.set(entry.account_id, [entry])
    },

    take: ({ maxItems, maxBytes }, busyKeys) => {
      const batch: Entry[] = []
      const taken = new Set<string>()
      let bytes = 0
      for (let before = -1; before < batch.length;) {
        before = batch.length
        for (const [account_id, queue] of Array.from(queues)) {
          const entry = queue[0]
          if (!entry || busyKeys.has(entry.key) || taken.has(entry.key)) continue
          if (batch.length > 0 && (batch.length >= maxItems || bytes + entry.bytes > maxBytes)) return batch
          shift(account_id, queue)
          taken.add(entry.key)
          batch.push(entry)
          bytes += entry.bytes
        }
      }
      return batch
    },

    get isEmpty() {
      return queues.size === 0
    },
  }
}
