import { z } from '@hono/zod-openapi'
import { digitsOr } from '../digits.ts'
import { nullable } from '../given.ts'
import { Id } from '../text.ts'
import { UtcTimestamp } from '../timestamp.ts'
import { Span, TraceId } from './span.ts'

const bytes = (of: string, note = '') =>
  z
    .int()
    .nullable()
    .openapi({ description: `The size of \`${of}\` in bytes${note}; \`null\` where it is unset`, example: 512 })

const { id, name, start_time, end_time, parent_id, task_id, input, output, data } = Span.shape

export const TraceSpan = z
  .object({
    id,
    name,
    start_time,
    end_time,
    parent_id,
    task_id,
    input_bytes: bytes('input'),
    output_bytes: bytes('output'),
    data_bytes: bytes('data', ' as it is stored: without payloads, patches count in full until they have been merged'),
    input: input.optional(),
    output: output.optional(),
    data: data.optional(),
  })
  .openapi('TraceSpan', { description: 'A span without its payloads, unless they were asked for' })

export const Trace = z
  .object({
    trace_id: z.string(),
    span_count: z.int().openapi({ description: 'Spans of the whole trace, whatever the page', example: 5 }),
    start_time: UtcTimestamp.openapi({ description: 'The earliest start of the whole trace' }),
    end_time: nullable(UtcTimestamp).openapi({ description: 'The latest end; `null` while a span runs' }),
    spans: z.array(TraceSpan).openapi({ description: 'By start time, then id; `parent_id` makes the tree' }),
    has_more: z.boolean().openapi({ description: 'Whether spans follow; ask again with `starting_after`' }),
  })
  .openapi('Trace')

export const traceParams = z.object({ trace_id: TraceId })

export const traceQuery = z.object({
  include: z.enum(['payload']).optional().openapi({ description: '`payload`: with input, output and data' }),
  limit: digitsOr(30_000, { minimum: 1, maximum: 50_000 }).openapi({
    description: 'The most spans to return; fewer come where they would fill more than 16 MiB',
  }),
  starting_after: Id.optional().openapi({
    description: 'A span id: the page begins after where that span is now, which changes only with its `start_time`',
  }),
})

export type Trace = z.infer<typeof Trace>
export type TraceSpan = z.infer<typeof TraceSpan>
