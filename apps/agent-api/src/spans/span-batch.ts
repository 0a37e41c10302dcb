import { JsonText } from '@keelson/contracts'
import { CreateSpanRequest, PutSpanRequest, SPAN_LIMIT_BYTES, type SpanBatchResult } from '@keelson/contracts/agent'
import { isTransient } from '@keelson/database'
import { ApiError, itemReader, problemOf, toApiError, uuidv7 } from '@keelson/service-kit'
import { newSpanOf, patchOf, presentSpan, type SpanFacts } from './span-row.ts'
import type { spanStore } from './store.ts'

type Store = ReturnType<typeof spanStore>

type Write = { id: string; write: () => Promise<SpanFacts> }

export type Batch = { items: readonly unknown[]; requestId: string }

const readCreate = itemReader(CreateSpanRequest)
const readPut = itemReader(PutSpanRequest)

const idOf = (item: unknown): string | null => {
  const value = item instanceof JsonText ? item.value : item
  const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : null
  return typeof id === 'string' ? id : null
}

const refuseTooLarge = (item: unknown): void => {
  if (item instanceof JsonText && Buffer.byteLength(item.text) > SPAN_LIMIT_BYTES)
    throw new ApiError('payload_too_large', `The span is larger than ${SPAN_LIMIT_BYTES} bytes`)
}

/** Items of one span are written one after the other, different spans together. */
const outcomesOf = ({ items, requestId }: Batch, parse: (item: unknown) => Write): Promise<SpanBatchResult[]> => {
  const last = new Map<string, Promise<unknown>>()
  const inTurn = ({ id, write }: Write): Promise<SpanFacts> => {
    const written = last.get(id)?.then(write, write) ?? write()
    last.set(id, written)
    return written
  }
  const run = async (item: unknown, index: number): Promise<SpanBatchResult> => {
    let id = idOf(item)
    try {
      refuseTooLarge(item)
      const parsed = parse(item)
      id = parsed.id
      return { index, id, status: 200, span: presentSpan(await inTurn(parsed)), problem: null }
    } catch (error) {
      const problem = problemOf(toApiError(error, isTransient), requestId)
      return { index, id, status: problem.status, span: null, problem }
    }
  }
  return Promise.all(items.map(run))
}

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
    return { id, write: () => store.create(newSpanOf(id, request)) }
  })

/** Creates or changes spans, each with an outcome of its own; the last item of an id wins. */
export const putBatch = (store: Store, batch: Batch) =>
  runBatch(batch, (item) => {
    const { id, ...request } = readPut(item)
    return { id, write: () => store.put(patchOf(id, request)) }
  })
