import { JsonText } from '@keelson/contracts'
import { CreateSpanRequest, PutSpanRequest, type SpanBatchResult } from '@keelson/contracts/agent'
import { isTransient } from '@keelson/database'
import { itemReader, problemOf, toApiError, uuidv7 } from '@keelson/service-kit'
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

/** Items of one span are written one after the other, different spans together. */
const runBatch = async ({ items, requestId }: Batch, parse: (item: unknown) => Write): Promise<SpanBatchResult[]> => {
  const last = new Map<string, Promise<unknown>>()
  const run = async (item: unknown, index: number): Promise<SpanBatchResult> => {
    let id = idOf(item)
    try {
      const parsed = parse(item)
      id = parsed.id
      const written = (last.get(id) ?? Promise.resolve()).then(parsed.write)
      last.set(
        id,
        written.catch(() => {}),
      )
      return { index, id, status: 200, span: presentSpan(await written), problem: null }
    } catch (error) {
      const problem = problemOf(toApiError(error, isTransient), requestId)
      return { index, id, status: problem.status, span: null, problem }
    }
  }
  return Promise.all(items.map(run))
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
