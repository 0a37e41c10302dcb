import { z } from '@hono/zod-openapi'
import { Problem } from '../errors.ts'
import { FreeFormValue } from '../free-form.ts'
import { nullable } from '../given.ts'
import { Span } from './span.ts'

export const SPAN_BATCH_ITEMS = 1000

/**
 * Items arrive as they were sent and are parsed one by one with the schema of a single span, so that a bad one
 * sinks no other.
 */
const itemsOf = (name: 'CreateSpanRequest' | 'PutSpanRequest') =>
  z
    .array(FreeFormValue)
    .max(SPAN_BATCH_ITEMS, { error: `must be at most ${SPAN_BATCH_ITEMS} spans` })
    .openapi({ type: 'array', maxItems: SPAN_BATCH_ITEMS, items: { $ref: `#/components/schemas/${name}` } })

export const CreateSpanBatchRequest = z
  .object({ spans: itemsOf('CreateSpanRequest') })
  .openapi('CreateSpanBatchRequest')
export const PutSpanBatchRequest = z.object({ spans: itemsOf('PutSpanRequest') }).openapi('PutSpanBatchRequest')

const position = z.int().openapi({ description: 'The position of the item in the request', example: 0 })

export const SpanBatchResult = z
  .object({
    index: position,
    id: z.string().nullable().openapi({ description: 'The id of the span; `null` where none was given and none made' }),
    status: z.int().openapi({
      description:
        'The status this item would have had alone, or 503 where the batch had no time or no room left for it',
      example: 200,
    }),
    span: nullable(Span).openapi({ description: 'The span as it is stored; `null` where it failed' }),
    omitted: z
      .array(z.enum(['input', 'output', 'data']))
      .optional()
      .openapi({
        description:
          'Fields of `span` that are `null` only because they were stored before and found no room in the answer, or are in that of the item which made the span; `GET /spans/{span_id}` has them',
      }),
    problem: nullable(Problem).openapi({ description: 'Why the item failed; `null` where it did not' }),
  })
  .openapi('SpanBatchResult')

export const SpanBatchResponse = z
  .object({ results: z.array(SpanBatchResult).openapi({ description: 'One for each item, in order' }) })
  .openapi('SpanBatchResponse')

export type SpanBatchResult = z.infer<typeof SpanBatchResult>
