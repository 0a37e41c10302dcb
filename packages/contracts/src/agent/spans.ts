import { z } from '@hono/zod-openapi'
import { anyCaseOneOf, pageQuery } from '../page-query.ts'
import { route } from '../route.ts'
import { Id, Text } from '../text.ts'
import { CreateSpanRequest, Span, SpanId, UpdateSpanRequest } from './span.ts'
import { CreateSpanBatchRequest, PutSpanBatchRequest, SpanBatchResponse } from './span-batches.ts'
import { Trace, traceParams, traceQuery } from './traces.ts'

const MEBIBYTE = 1_048_576
export const SPAN_LIMIT_BYTES = 4 * MEBIBYTE
export const SPAN_BATCH_LIMIT_BYTES = 16 * MEBIBYTE

/** How heavy the answer to a batch may get. */
const ANSWER_BOUND =
  'An answer holds at most 16 MiB of payloads that its items did not send themselves, less while the service is short of memory; what is left out is named in `omitted`.'

const tag = 'spans'
const scope = 'spans:write'
const params = z.object({ span_id: SpanId })

/** A filter of a list: empty means "not given". */
const filter = (description: string) =>
  z.preprocess((text: string | undefined) => (text === '' ? undefined : text), Text.optional()).openapi({ description })

const listSpansQuery = z
  .object({
    trace_id: filter('Only spans of this trace'),
    task_id: filter('Only spans of this task, or of the trace named after it'),
    ...pageQuery,
    limit: pageQuery.limit.openapi({
      description:
        'The most spans to return. A page whose payloads weigh more than 32 MiB is 422: ask for it with a smaller limit',
    }),
    starting_after: Id.optional().openapi({
      description:
        'A span id: the page begins after where that span is now. To page while spans are completed, order by what does not change, such as `start_time`; else some are skipped or repeated. Stays fast however deep. Extension',
    }),
    order_by: anyCaseOneOf(['start_time', 'end_time', 'name', 'id']).openapi({
      description: 'The field to sort by; ties by id',
    }),
    order_direction: anyCaseOneOf(['desc', 'asc']).openapi({ description: 'In upper or lower case' }),
  })
  .refine(({ starting_after, page_number }) => starting_after === undefined || page_number === 1, {
    error: 'starting_after and page_number exclude each other',
    path: ['page_number'],
  })

export const spans = {
  createSpan: route('createSpan', 'post', '/spans', {
    tag,
    summary: 'Record a span',
    description:
      'A 200 means it is committed. With an id that exists, equal or still unset fields are added and the span is answered as it is now; a contradiction is 409.',
    scope,
    body: CreateSpanRequest,
    ok: Span,
    errors: ['span_exists'],
    bodyLimitBytes: SPAN_LIMIT_BYTES,
  }),
  listSpans: route('listSpans', 'get', '/spans', {
    tag,
    summary: 'List spans',
    scope: 'spans:read',
    query: listSpansQuery,
    ok: z.array(Span),
  }),
  createSpanBatch: route('createSpanBatch', 'post', '/spans/batch', {
    tag,
    summary: 'Record many spans',
    description: `Each as by \`POST /spans\`, with an answer of its own: a bad one sinks no other. A repeated id folds into one. ${ANSWER_BOUND} Items of status 503 are to be sent again; then the answer has \`Retry-After\`, and where no other item is left it is 503 itself.`,
    scope,
    body: CreateSpanBatchRequest,
    ok: SpanBatchResponse,
    bodyLimitBytes: SPAN_BATCH_LIMIT_BYTES,
    extension: true,
  }),
  putSpanBatch: route('putSpanBatch', 'put', '/spans/batch', {
    tag,
    summary: 'Create or change many spans',
    description: `Each is created or, where its id exists, changed: the last one wins. Items of one id that say too little to make a span wait for one that makes it. A bad one sinks no other. ${ANSWER_BOUND} Items of status 503 are to be sent again; then the answer has \`Retry-After\`, and where no other item is left it is 503 itself.`,
    scope,
    body: PutSpanBatchRequest,
    ok: SpanBatchResponse,
    bodyLimitBytes: SPAN_BATCH_LIMIT_BYTES,
    extension: true,
  }),
  getSpan: route('getSpan', 'get', '/spans/{span_id}', {
    tag,
    summary: 'Get a span',
    scope: 'spans:read',
    params,
    ok: Span,
  }),
  updateSpan: route('updateSpan', 'patch', '/spans/{span_id}', {
    tag,
    summary: 'Add to a span: its output, its end',
    description:
      'Concurrent updates lose nothing. An id that does not exist is 404, unless the body holds `trace_id`, `name` and `start_time`: then the span is created.',
    scope,
    params,
    body: UpdateSpanRequest,
    ok: Span,
    bodyLimitBytes: SPAN_LIMIT_BYTES,
  }),
  getTrace: route('getTrace', 'get', '/traces/{trace_id}', {
    tag,
    summary: 'Get the spans of a trace, with the sizes of their payloads',
    scope: 'spans:read',
    params: traceParams,
    query: traceQuery,
    ok: Trace,
    extension: true,
  }),
}
