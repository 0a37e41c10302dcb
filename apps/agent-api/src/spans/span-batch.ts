import { JsonText, type Problem } from '@keelson/contracts'
import { CreateSpanRequest, PutSpanRequest, type SpanBatchResult } from '@keelson/contracts/agent'
import { isBlocked, isTransient } from '@keelson/database'
import { ApiError, itemReader, problemOf, toApiError, uuidv7 } from '@keelson/service-kit'
import type { Room } from './answered-span.ts'
import type { InTurn } from './fair-turns.ts'
import { foldPuts } from './fold-puts.ts'
import type { KeptSpans } from './read-span.ts'
import { newSpanOf, patchOf, presentSpan, type SpanPatch, type WrittenSpan } from './span-row.ts'
import { WRITER_IS_FULL } from './span-writer.ts'
import type { spanStore } from './store.ts'

type Store = ReturnType<typeof spanStore>

type Write = { id: string; write: () => Promise<WrittenSpan> }

export type Batch = {
  items: readonly unknown[]
  maxItemBytes: number
  requestId: string
  room: Room
  /** Keeps what one item has read of a stored span for the others of the same span. */
  kept: KeptSpans
  /** Whether nobody waits for the answer any more, or soon will not. */
  isOver: () => boolean
  /** Does some of the items when their turn has come. */
  inTurn: InTurn
}

/** So many items have a turn together. */
export const TURN_ITEMS = 100

const readCreate = itemReader(CreateSpanRequest)
const readPut = itemReader(PutSpanRequest)

const idOf = (item: unknown): string | null => {
  const value = item instanceof JsonText ? item.value : item
  const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : null
  return typeof id === 'string' ? id : null
}

const refuseTooLarge = (item: unknown, maxBytes: number): void => {
  if (item instanceof JsonText && Buffer.byteLength(item.text) > maxBytes)
    throw new ApiError('payload_too_large', `The span is larger than ${maxBytes} bytes`)
}

/** Tells why items failed: what sinks many of them is put in words once. */
const problemTeller = (requestId: string) => {
  let last: unknown
  let problem: Problem | null = null
  return (thrown: unknown): Problem => {
    if (problem === null || last !== thrown) problem = problemOf(toApiError(thrown, isTransient), requestId)
    last = thrown
    return problem
  }
}

/**
 * Runs the writes of one span one after the other, those of different spans together. Where one waited in vain for
 * whoever holds its row, so would those behind it.
 */
const bySpan = () => {
  const last = new Map<string, Promise<WrittenSpan>>()
  return ({ id, write }: Write): Promise<WrittenSpan> => {
    const unlessBlocked = (error: unknown) => {
      if (isBlocked(error)) throw error
      return write()
    }
    const written = last.get(id)?.then(write, unlessBlocked) ?? write()
    last.set(id, written)
    return written
  }
}

/** Made once: it may be the answer to a thousand items. */
const BATCH_IS_OVER = new ApiError('unavailable', 'The batch takes too long; send the span again', {
  retryAfterSeconds: 1,
})

/** What fails one item and would fail the others as well. */
const failsAll = (thrown: unknown): boolean => thrown === WRITER_IS_FULL || (isTransient(thrown) && !isBlocked(thrown))

const outcomesOf = async (batch: Batch, parse: (item: unknown) => Write): Promise<SpanBatchResult[]> => {
  const { items, maxItemBytes, requestId, isOver, inTurn } = batch
  const written = bySpan()
  const tell = problemTeller(requestId)
  let failure: unknown = null

  const refuseLate = (): void => {
    if (failure === null && isOver()) failure = BATCH_IS_OVER
    if (failure !== null) throw failure
  }

  const run = async (item: unknown, index: number): Promise<SpanBatchResult> => {
    let id = idOf(item)
    try {
      refuseLate()
      refuseTooLarge(item, maxItemBytes)
      const { write, ...parsed } = parse(item)
      id = parsed.id
      const begin = async () => {
        refuseLate()
        return write()
      }
      const span = await written({ id, write: begin })
      return { index, id, status: 200, span: presentSpan(span), problem: null, ...omittedOf(span) }
    } catch (error) {
      if (failsAll(error)) failure = error
      const problem = tell(error)
      return { index, id, status: problem.status, span: null, problem }
    }
  }
  const turns = Array.from({ length: Math.ceil(items.length / TURN_ITEMS) }, (_, turn) => turn * TURN_ITEMS)
  const results = await Promise.all(
    turns.map((from) =>
      inTurn(() => Promise.all(items.slice(from, from + TURN_ITEMS).map((item, at) => run(item, from + at)))),
    ),
  )
  return results.flat()
}

const omittedOf = ({ omitted }: WrittenSpan) => omitted && { omitted: [...omitted] }

/** Whether an item may be sent again as it is, and should be. */
export const isShed = ({ status }: SpanBatchResult): boolean => status === 503

/** @throws ApiError `unavailable` when every item was shed: then the whole batch is to be sent again */
const runBatch = async (batch: Batch, parse: (item: unknown) => Write): Promise<SpanBatchResult[]> => {
  const results = await outcomesOf(batch, parse)
  if (results.length > 0 && results.every(isShed))
    throw new ApiError('unavailable', 'No span of the batch could be written now; send it again')
  return results
}

/** Creates spans, each with an outcome of its own. */
export const createBatch = (store: Store, batch: Batch) =>
  runBatch(batch, (item) => {
    const request = readCreate(item)
    const id = request.id ?? uuidv7()
    return { id, write: () => store.create(newSpanOf(id, request), batch.room, batch.kept) }
  })

/** Creates or changes spans, each with an outcome of its own; the last item of an id wins. */
export const putBatch = async (store: Store, batch: Batch) => {
  const folding = foldPuts()
  const put = (patch: SpanPatch) => store.put(patch, batch.room)
  const results = await runBatch(batch, (item) => {
    const { id, ...request } = readPut(item)
    return { id, write: () => folding.write(patchOf(id, request), put) }
  })
  return folding.settled(results)
}
