import { fairQueue, type Queued } from './fair-queue.ts'

/** Raised when the queue holds as many bytes as it may: the caller should answer 503 and be asked to come back. */
export class Overloaded extends Error {
  override name = 'Overloaded'
}

export type GroupCommitOptions<Item, Result> = {
  /** Commits all items in one statement and answers one result per item, in order. */
  write: (items: Item[]) => Promise<Result[]>
  /** Items of one key are never in flight together, and are written in the order they came. */
  keyOf: (item: Item) => string
  /** Whether a failed write says nothing about its items, so that trying them one by one is pointless. */
  isTransient: (error: unknown) => boolean
  /** Statements in flight at once; each occupies a connection. */
  lanes: number
  maxItems: number
  maxBytes: number
  maxQueuedBytes: number
}

type Entry<Item, Result> = Queued & {
  item: Item
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

/** Commits a batch and answers everyone in it; what fails is halved until the items at fault fail alone. */
const commit = async <Item, Result>(
  batch: Entry<Item, Result>[],
  options: Pick<GroupCommitOptions<Item, Result>, 'write' | 'isTransient'>,
): Promise<void> => {
  try {
    const results = await options.write(batch.map(({ item }) => item))
    batch.forEach((entry, index) => entry.resolve(results[index] as Result))
  } catch (error) {
    if (batch.length === 1 || options.isTransient(error)) return batch.forEach(({ reject }) => reject(error))
    const middle = batch.length >> 1
    await commit(batch.slice(0, middle), options)
    await commit(batch.slice(middle), options)
  }
}

/**
 * Coalesces concurrent writes into one statement per free connection. There is no timer: a lone caller is written at
 * once, and whatever arrives while every lane is busy forms the next batch. A caller is answered after its own rows are
 * committed. Accounts take turns, so a busy one cannot starve the others.
 */
export type GroupCommit<Item, Result> = {
  /**
   * Queues an item and resolves once it is committed. `bytes` is what the item weighs in memory.
   * @throws Overloaded when the queue is full; whatever `write` throws for this item.
   */
  submit: (account_id: string, item: Item, bytes: number) => Promise<Result>
  readonly queuedBytes: number
  /** Resolves when nothing is queued or in flight. */
  drain: () => Promise<void>
}

export const groupCommit = <Item, Result>(options: GroupCommitOptions<Item, Result>): GroupCommit<Item, Result> => {
  const queue = fairQueue<Entry<Item, Result>>()
  const busyKeys = new Set<string>()
  let freeLanes = options.lanes
  let queuedBytes = 0
  let idle = Promise.withResolvers<void>()

  const release = (batch: Entry<Item, Result>[]): void => {
    for (const { key, bytes } of batch) {
      busyKeys.delete(key)
      queuedBytes -= bytes
    }
    freeLanes += 1
    if (freeLanes === options.lanes && queue.isEmpty) idle.resolve()
    pump()
  }

  const pump = (): void => {
    while (freeLanes > 0 && !queue.isEmpty) {
      const batch = queue.take(options, busyKeys)
      if (batch.length === 0) return
      for (const { key } of batch) busyKeys.add(key)
      freeLanes -= 1
      void commit(batch, options).finally(() => release(batch))
    }
  }

  return {
    submit: (account_id, item, bytes) => {
      if (queuedBytes + bytes > options.maxQueuedBytes) return Promise.reject(new Overloaded('the write queue is full'))
      const { promise, resolve, reject } = Promise.withResolvers<Result>()
      queuedBytes += bytes
      queue.push({ account_id, key: options.keyOf(item), bytes, item, resolve, reject })
      pump()
      return promise
    },
    get queuedBytes() {
      return queuedBytes
    },
    drain: async () => {
      while (!queue.isEmpty || freeLanes < options.lanes) {
        idle = Promise.withResolvers()
        await idle.promise
      }
    },
  }
}
