import { fifo, type Fifo } from './fifo.ts'

export type Queued = { account_id: string; key: string; bytes: number }

export type BatchLimits = { maxItems: number; maxBytes: number }

/** Queues of every account, taken from in turns. Of each key one entry is out at most; the others wait in order. */
export type FairQueue<Entry extends Queued> = {
  push: (entry: Entry) => void
  /** One entry of each account in turn until a limit is reached; an entry above the limits goes alone. */
  take: (limits: BatchLimits) => Entry[]
  /** Lets the next entry of the same key go. Due once for every entry that was taken. */
  release: (entry: Entry) => void
  /** Takes out what waits behind these entries, which are out themselves, and returns it. */
  clearBehind: (entries: readonly Entry[]) => Entry[]
  /** Empties the queue of all that is not out and returns it. */
  clear: () => Entry[]
  /** How many entries can be taken now. */
  readonly size: number
}

const drained = <Entry>(queue: Fifo<Entry> | null): Entry[] => {
  const entries: Entry[] = []
  for (let entry = queue?.shift(); entry; entry = queue?.shift()) entries.push(entry)
  return entries
}

/** Above so many accounts those with nothing to write are forgotten. */
const MAX_ACCOUNTS = 1000

/** The queue of each account; kept when it is empty, since most accounts come back at once. */
const accountQueues = <Entry>() => {
  const queues = new Map<string, Fifo<Entry>>()
  const forgetEmpty = (): void => {
    for (const [account_id, { size }] of queues) if (size === 0) queues.delete(account_id)
  }
  return (account_id: string): Fifo<Entry> => {
    const known = queues.get(account_id)
    if (known) return known
    if (queues.size >= MAX_ACCOUNTS) forgetEmpty()
    const queue = fifo<Entry>()
    queues.set(account_id, queue)
    return queue
  }
}

export const fairQueue = <Entry extends Queued>(): FairQueue<Entry> => {
  const queueOf = accountQueues<Entry>()
  /** The queues that hold something, in the order of their turns. */
  const turns = fifo<Fifo<Entry>>()
  /** Every key that is ready or out, with the entries behind it. */
  const behind = new Map<string, Fifo<Entry> | null>()
  let size = 0

  const makeReady = (entry: Entry): void => {
    const queue = queueOf(entry.account_id)
    if (queue.size === 0) turns.push(queue)
    queue.push(entry)
    size += 1
  }

  return {
    push: (entry) => {
      const waiting = behind.get(entry.key)
      if (waiting) return waiting.push(entry)
      behind.set(entry.key, waiting === null ? fifo([entry]) : null)
      if (waiting === undefined) makeReady(entry)
    },

    take: ({ maxItems, maxBytes }) => {
      const batch: Entry[] = []
      let bytes = 0
      for (let queue = turns.first; queue; queue = turns.first) {
        const entry = queue.first as Entry
        if (batch.length > 0 && (batch.length >= maxItems || bytes + entry.bytes > maxBytes)) break
        turns.shift()
        queue.shift()
        if (queue.size > 0) turns.push(queue)
        batch.push(entry)
        bytes += entry.bytes
      }
      size -= batch.length
      return batch
    },

    release: ({ key }) => {
      const next = behind.get(key)?.shift()
      if (next === undefined) behind.delete(key)
      else makeReady(next)
    },

    clearBehind: (entries) => entries.flatMap(({ key }) => drained(behind.get(key) ?? null)),

    clear: () => {
      const waiting = [...behind.values()].flatMap(drained)
      const cleared = drained(turns).flatMap(drained)
      for (const { key } of cleared) behind.delete(key)
      size = 0
      return [...waiting, ...cleared]
    },

    get size() {
      return size
    },
  }
}
