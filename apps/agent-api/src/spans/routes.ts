import { isOwnParent, OWN_PARENT, SPAN_LIMIT_BYTES, spans, type SpanBatchResult } from '@keelson/contracts/agent'
import type { Database } from '@keelson/database'
import { invalidField, uuidv7, type Call, type Service } from '@keelson/service-kit'
import type { Deps } from '../app.ts'
import type { Room } from './answered-span.ts'
import { fairTurns, type InTurn } from './fair-turns.ts'
import { listSpans } from './list-spans.ts'
import { keptSpans } from './read-span.ts'
import { readTrace } from './read-trace.ts'
import { type Batch, createBatch, isShed, putBatch, TURN_ITEMS } from './span-batch.ts'
import { newSpanOf, patchOf, presentSpan } from './span-row.ts'
import { spanStore } from './store.ts'

/** A body does not know the id in its path. */
const refuseOwnParent = (id: string, parent_id: string | undefined): void => {
  if (isOwnParent({ id, parent_id })) invalidField('parent_id', OWN_PARENT)
}

/** The answer to a batch. Where items were shed, its head says so as well: `Retry-After` is when to send those again. */
const batchAnswer = (results: SpanBatchResult[], { respond }: Pick<Call, 'respond'>) => {
  if (results.some(isShed)) respond.header('retry-after', '1')
  return { results }
}

/** What a batch's answer holds of payloads that its items did not send. */
const ANSWER_PAYLOAD_BYTES = 16 * 1_048_576

/** Items that have not begun by then are shed, so that the batch is answered while its caller still waits: for 30 s. */
const BATCH_MS = 25_000

const isOverFor = (call: Call): (() => boolean) => {
  const end = performance.now() + BATCH_MS
  return () => call.signal.aborted || performance.now() > end
}

const roomOf = (call: Call): Room => {
  let left = ANSWER_PAYLOAD_BYTES
  return {
    take: (bytes) => {
      if (bytes > left || !call.mayHold(bytes)) return false
      left -= bytes
      return true
    },
  }
}

/** Heavy payloads are read by so many at a time. */
const HEAVY_READS = 2

/** Lists and traces take a third of the connections, so that slow and heavy ones leave room for writes. */
const listsAtATime = (sql: Database['sql']): number => Math.max(1, Math.floor(sql.options.max / 3))

/** Items of batches that are worked on at a time: enough for all statements, with as many waiting. */
const BATCH_ITEMS = 1200

export const spanRoutes = (service: Service, { db, spanWriter }: Pick<Deps, 'db' | 'spanWriter'>) => {
  const maxItemBytes = service.bodyLimit(spans.createSpan.operationId, SPAN_LIMIT_BYTES)
  const heavyReads = fairTurns(HEAVY_READS)
  const listTurns = fairTurns(listsAtATime(db.sql))
  const batchTurns = fairTurns(BATCH_ITEMS / TURN_ITEMS)
  const storeOf = (account_id: string, inTurn: InTurn = (work) => heavyReads(account_id, work)) =>
    spanStore({ sql: db.sql, writer: spanWriter, account_id, inTurn })

  const listInTurn = <T>({ principal, signal }: Call, read: () => Promise<T>): Promise<T> =>
    listTurns(principal.account_id, read, signal)

  const batchOf = (call: Call & { body: { spans: readonly unknown[] } }): Batch => ({
    items: call.body.spans,
    maxItemBytes,
    requestId: call.requestId,
    room: roomOf(call),
    kept: keptSpans(roomOf(call).take),
    isOver: isOverFor(call),
    inTurn: (work) => batchTurns(call.principal.account_id, work),
  })

  service.handle(spans.createSpan, async ({ body, principal }) =>
    presentSpan(await storeOf(principal.account_id).create(newSpanOf(body.id ?? uuidv7(), body))),
  )

  service.handle(spans.listSpans, (call) =>
    listInTurn(call, async () => (await listSpans(db, call.principal.account_id, call.query)).map(presentSpan)),
  )

  service.handle(spans.createSpanBatch, async (call) =>
    batchAnswer(await createBatch(storeOf(call.principal.account_id), batchOf(call)), call),
  )

  service.handle(spans.putSpanBatch, async (call) =>
    batchAnswer(await putBatch(storeOf(call.principal.account_id), batchOf(call)), call),
  )

  service.handle(spans.getSpan, async (call) => {
    const { account_id } = call.principal
    const store = storeOf(account_id, (work) => heavyReads(account_id, work, call.signal))
    return presentSpan(await store.get(call.params.span_id))
  })

  service.handle(spans.updateSpan, async ({ params, body, principal, mustExist }) => {
    refuseOwnParent(params.span_id, body.parent_id)
    const store = storeOf(principal.account_id)
    if (mustExist) await store.get(params.span_id, [])
    return presentSpan(await store.patch(patchOf(params.span_id, body)))
  })

  service.handle(spans.getTrace, (call) =>
    listInTurn(call, () => readTrace(db, call.principal.account_id, call.params.trace_id, call.query)),
  )
}
