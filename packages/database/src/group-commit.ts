import { fairQueue, type BatchLimits, type Queued } from './fair-queue.ts'
import { createLanes, type Flight } from './lanes.ts'

/** Raised when the queue is full or the database does not answer: the caller should be asked to come back. */
export class Overloaded extends Error {
  override name = 'Overloaded'
}

export type GroupCommitOptions<Item, Result> = {
  /** Commits all items in one statement and answers one result per item, in order; see `waitingAtMost`. */
  write: (items: Item[], lockTimeoutMs?: number) => Promise<Result[]>
  /** Items of one key are never in flight together, and are written in the order they came. */
  keyOf: (item: Item) => string
  /** Whether a failed write says nothing about its items, so that trying them one by one is pointless. */
  isTransient: (error: unknown) => boolean
  /** Whether a write failed for rows that others hold, so that its other items can be written (default: never). */
  isBlocked?: (error: unknown) => boolean
  /** Statements in flight at once; each occupies a connection. */
  lanes: number
  maxItems: number
  /** Of more than these a statement takes half, so that some are answered while others are written (default `maxItems`). */
  fewItems?: number
  maxBytes: number
  maxQueuedBytes: number
  /** Callers of a statement that takes longer hear `Overloaded`, with all who wait for its items; once every lane has one, all do. */
  stallMs: number
  /** A statement that takes longer is not waited for while a lane is free (default 50). */
  soonMs?: number
  /** How much must wait, as a share of what is in flight, for another statement to begin beside it (default 1/3). */
  besideShare?: number
}

const SOON_MS = 50

const BESIDE_SHARE = 1 / 3

/**
 * Coalesces concurrent writes into one statement per free lane. No timer gathers them: what arrives in one turn of the
 * event loop is written at its end, and whatever arrives while statements are in flight forms the next batch, which goes
 * beside them once it is large enough. A lone caller waits for nobody, and after another lone one for no turn to end either. A caller is answered after its own rows are committed. Accounts take
 * turns, so a busy one cannot starve the others.
 */
export type GroupCommit<Item, Result> = {
  /**
   * Queues an item and resolves once it is committed. `bytes` is what the item weighs in memory.
   * @throws Overloaded when the queue is full or stalled; whatever `write` throws for this item.
   */
  submit: (account_id: string, item: Item, bytes: number) => Promise<Result>
  /** What is queued and in flight weighs. */
  readonly queuedBytes: number
  /** Resolves when nothing is queued or in flight. */
  drain: () => Promise<void>
}

type Entry<Item, Result> = Queued & {
  item: Item
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

/** Whoever is tried again for the rows of others has waited for them already. */
const HARDLY_WAITING_MS = 20

/**
 * Commits what a statement writes and answers everyone in it; what fails is halved until the items at fault fail alone.
 * That ends when the statement has stalled, for then everyone is answered.
 */
const commit = async <Item, Result>(
  batch: readonly Entry<Item, Result>[],
  flight: Flight<Entry<Item, Result>>,
  options: Pick<GroupCommitOptions<Item, Result>, 'write' | 'isTransient' | 'isBlocked'>,
  lockTimeoutMs?: number,
): Promise<void> => {
  try {
    const items = batch.map(({ item }) => item)
    const results = await options.write(items, lockTimeoutMs)
    batch.forEach((entry, index) => entry.resolve(results[index] as Result))
  } catch (error) {
    const isBlocked = options.isBlocked?.(error) ?? false
    const isHopeless = flight.isStalled || (options.isTransient(error) && !isBlocked)
    if (batch.length === 1 || isHopeless) return batch.forEach(({ reject }) => reject(error))
    const middle = batch.length >> 1
    const patience = isBlocked ? HARDLY_WAITING_MS : lockTimeoutMs
    await commit(batch.slice(0, middle), flight, options, patience)
    await commit(batch.slice(middle), flight, options, patience)
  }
}

const bytesOf = (entries: readonly Queued[]): number => entries.reduce((sum, { bytes }) => sum + bytes, 0)

const NO_ANSWER = 'the database does not answer'

const refuse = (entries: readonly Pick<Entry<unknown, unknown>, 'reject'>[]): void => {
  const error = new Overloaded(NO_ANSWER)
  for (const { reject } of entries) reject(error)
}

type Watch<Entry> = {
  soonMs: number
  stallMs: number
  onLate: () => void
  onStall: (flight: Flight<Entry>) => void
}

/** Waits for the work of a flight, and tells once it is late and once it has stalled: one timer, set anew. */
const watched = async <Entry>(work: Promise<void>, flight: Flight<Entry>, watch: Watch<Entry>): Promise<void> => {
  const { soonMs, stallMs, onLate, onStall } = watch
  const stall = () => {
    flight.isStalled = true
    onStall(flight)
  }
  const late = () => {
    flight.isLate = true
    timer = setTimeout(stall, stallMs - soonMs)
    onLate()
  }
  let timer = soonMs < stallMs ? setTimeout(late, soonMs) : setTimeout(stall, stallMs)
  await work
  clearTimeout(timer)
}

/** Makes of many calls a single one, when the schedule has it. */
const onceWhen = (schedule: (act: () => void) => void, act: () => void): (() => void) => {
  let isDue = false
  return () => {
    if (isDue) return
    isDue = true
    schedule(() => {
      isDue = false
      act()
    })
  }
}

/** Whoever is alone is served after the call, others together after the turn of the event loop. */
const pumping = (pump: () => void): ((isAlone: boolean) => void) => {
  const afterThisCall = onceWhen(queueMicrotask, pump)
  const afterThisTurn = onceWhen(setImmediate, pump)
  return (isAlone) => (isAlone ? afterThisCall() : afterThisTurn())
}

type Limits = BatchLimits & { fewItems?: number }

const limitsFor = ({ maxItems, fewItems = maxItems, maxBytes }: Limits, waiting: number): BatchLimits => ({
  maxItems: Math.min(maxItems, Math.max(fewItems, Math.ceil(waiting / 2))),
  maxBytes,
})

/**
 * Whether so many items should be written beside what is in flight. Every statement costs a flush of the log, and flushes
 * wait for each other: a small one takes its turn from the next large one. Where the log is slow that costs many callers
 * a third of their rate.
 */
const isWorthAStatement = (waiting: number, least: number): boolean => waiting > 0 && waiting >= least

export const groupCommit = <Item, Result>(options: GroupCommitOptions<Item, Result>): GroupCommit<Item, Result> => {
  const { stallMs, soonMs = SOON_MS, maxQueuedBytes, besideShare = BESIDE_SHARE } = options
  const queue = fairQueue<Entry<Item, Result>>()
  const lanes = createLanes<Entry<Item, Result>>(options.lanes)
  let queuedBytes = 0
  const whenIdle: (() => void)[] = []

  const giveUp = (waiting: readonly Entry<Item, Result>[]): void => {
    queuedBytes -= bytesOf(waiting)
    refuse(waiting)
  }

  /** The statement goes on, so its rows keep their place; only those who wait for it stop doing so. */
  const onStall = ({ batch }: Flight<Entry<Item, Result>>): void => {
    refuse(batch)
    giveUp(queue.clearBehind(batch))
    if (lanes.areStalled) giveUp(queue.clear())
  }

  /** Whoever waits beside it gets another lane, unless the answer has come in this very turn of the event loop. */
  const onLate = () => pumpSoon(false)

  const run = async (batch: Entry<Item, Result>[]): Promise<void> => {
    const flight = lanes.enter(batch)
    await watched(commit(batch, flight, options), flight, { soonMs, stallMs, onLate, onStall })
    lanes.leave(flight)
    queuedBytes -= bytesOf(batch)
    batch.forEach(queue.release)
    pump()
    if (lanes.areIdle) for (const resolve of whenIdle.splice(0)) resolve()
  }

  const pump = (): void => {
    while (!lanes.areFull && isWorthAStatement(queue.size, lanes.itemsInFlight * besideShare))
      void run(queue.take(limitsFor(options, queue.size)))
  }

  const pumpSoon = pumping(pump)

  return {
    submit: (account_id, item, bytes) => {
      if (queuedBytes + bytes > maxQueuedBytes) return Promise.reject(new Overloaded('the write queue is full'))
      const key = options.keyOf(item)
      if (lanes.areStalled || lanes.isStuck(key)) return Promise.reject(new Overloaded(NO_ANSWER))
      const { promise, resolve, reject } = Promise.withResolvers<Result>()
      queuedBytes += bytes
      queue.push({ account_id, key, bytes, item, resolve, reject })
      pumpSoon(lanes.areQuiet)
      return promise
    },
    get queuedBytes() {
      return queuedBytes
    },
    drain: async () => {
      pump()
      if (!lanes.areIdle) await new Promise<void>((resolve) => whenIdle.push(resolve))
    },
  }
}
