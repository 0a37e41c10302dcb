import { isOwnParent, OWN_PARENT, spans, type SpanBatchResult } from '@keelson/contracts/agent'
import { ApiError, uuidv7, type Call, type Service } from '@keelson/service-kit'
import type { Deps } from '../app.ts'
import { listSpans } from './list-spans.ts'
import { readTrace } from './read-trace.ts'
import { createBatch, isShed, putBatch } from './span-batch.ts'
import { newSpanOf, patchOf, presentSpan } from './span-row.ts'
import { spanStore } from './store.ts'

/** A body does not know the id in its path. */
const refuseOwnParent = (id: string, parent_id: string | undefined): void => {
  if (!isOwnParent({ id, parent_id })) return
  throw new ApiError('invalid_request', undefined, { errors: [{ path: 'parent_id', message: OWN_PARENT }] })
}

/** The answer to a batch. Where items were shed, its head says so as well: `Retry-After` is when to send those again. */
const batchAnswer = (results: SpanBatchResult[], { respond }: Pick<Call, 'respond'>) => {
  if (results.some(isShed)) respond.header('retry-after', '1')
  return { results }
}

export const spanRoutes = (service: Service, { db, spanWriter }: Pick<Deps, 'db' | 'spanWriter'>) => {
  const storeOf = (account_id: string) => spanStore(db, spanWriter, account_id)

  service.handle(spans.createSpan, async ({ body, principal }) =>
    presentSpan(await storeOf(principal.account_id).create(newSpanOf(body.id ?? uuidv7(), body))),
  )

  service.handle(spans.listSpans, async ({ query, principal }) =>
    (await listSpans(db, principal.account_id, query)).map(presentSpan),
  )

  service.handle(spans.createSpanBatch, async ({ body, principal, requestId, respond }) =>
    batchAnswer(await createBatch(storeOf(principal.account_id), { items: body.spans, requestId }), { respond }),
  )

  service.handle(spans.putSpanBatch, async ({ body, principal, requestId, respond }) =>
    batchAnswer(await putBatch(storeOf(principal.account_id), { items: body.spans, requestId }), { respond }),
  )

  service.handle(spans.getSpan, async ({ params, principal }) =>
    presentSpan(await storeOf(principal.account_id).get(params.span_id)),
  )

  service.handle(spans.updateSpan, async ({ params, body, principal, mustExist }) => {
    refuseOwnParent(params.span_id, body.parent_id)
    const store = storeOf(principal.account_id)
    if (mustExist) await store.get(params.span_id)
    return presentSpan(await store.patch(patchOf(params.span_id, body)))
  })

  service.handle(spans.getTrace, ({ params, query, principal }) =>
    readTrace(db, principal.account_id, params.trace_id, query),
  )
}
