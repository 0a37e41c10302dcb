import { z } from '@hono/zod-openapi'
import { FreeFormObjects } from '../free-form.ts'
import { given, nullable } from '../given.ts'
import { Id, textWithin } from '../text.ts'
import { Timestamp, UtcTimestamp } from '../timestamp.ts'

const message = (role: string, content: string) => ({ role, parts: [{ type: 'text', content }] })

/** Attributes have the names that OpenTelemetry's conventions for generative AI give them. */
const EXAMPLE = {
  id: '019aa5e0-7c1d-7b62-9a55-3f0e8a1c4d27',
  trace_id: 'task-42',
  name: 'chat gpt-4o',
  input: { 'gen_ai.input.messages': [message('user', 'Hello')] },
  output: { 'gen_ai.output.messages': [{ ...message('assistant', 'How can I help?'), finish_reason: 'stop' }] },
  data: {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'gpt-4o',
    'gen_ai.usage.input_tokens': 8,
  },
}

/** A task or parent may be the empty text: some clients say "none" like that. */
const Reference = textWithin(255)

export const SpanId = Id.openapi({ description: 'Chosen by the caller, or a UUIDv7', example: EXAMPLE.id })
export const TraceId = Id.openapi({ description: 'The trace the span belongs to', example: EXAMPLE.trace_id })

export const Span = z
  .object({
    id: z.string().openapi({ example: EXAMPLE.id }),
    name: z.string().openapi({ example: EXAMPLE.name }),
    start_time: UtcTimestamp,
    trace_id: z.string().openapi({ example: EXAMPLE.trace_id }),
    data: nullable(FreeFormObjects).openapi({ description: 'Attributes, kept as sent', example: EXAMPLE.data }),
    end_time: nullable(UtcTimestamp).openapi({ description: '`null` while the span runs' }),
    input: nullable(FreeFormObjects).openapi({ description: 'Kept as sent', example: EXAMPLE.input }),
    output: nullable(FreeFormObjects).openapi({ description: 'Kept as sent', example: EXAMPLE.output }),
    parent_id: z.string().nullable().openapi({ description: 'The parent span, which need not exist (yet)' }),
    task_id: z.string().nullable().openapi({ description: 'The task the span belongs to' }),
  })
  .openapi('Span', { description: 'A unit of work in a trace; every field is there, an unset one is `null`' })

const name = textWithin(4096).openapi({
  description: 'The operation, in OpenTelemetry words where there are some',
  example: EXAMPLE.name,
})
const start_time = Timestamp.openapi({ description: 'ISO 8601; without an offset it is UTC' })

const facts = {
  data: given(FreeFormObjects).openapi({ description: 'Attributes', example: EXAMPLE.data }),
  end_time: given(Timestamp).openapi({ description: 'Not before start_time' }),
  input: given(FreeFormObjects).openapi({ example: EXAMPLE.input }),
  output: given(FreeFormObjects).openapi({ example: EXAMPLE.output }),
  parent_id: given(Reference).openapi({
    description: 'The parent span, which need not exist (yet); never the span itself',
  }),
  task_id: given(Reference).openapi({ description: 'The task the span belongs to' }),
}

type Times = { [Field in 'start_time' | 'end_time']?: string | null | undefined }

/** Whether a span does not end before it starts, as far as that is known. Without their `Z`, normalised times sort as text. */
export const isInOrder = ({ start_time, end_time }: Times): boolean =>
  !start_time || !end_time || start_time.slice(0, -1) <= end_time.slice(0, -1)

/** The one wording for a span that ends before it starts. */
export const END_BEFORE_START = 'must not be before start_time'
/** The same of a request that says only when the span starts. */
export const START_AFTER_END = 'must not be after end_time'

type Kinship = { id?: string | undefined; parent_id?: string | undefined }

/** Whether a span is its own parent, which no tree can show. */
export const isOwnParent = ({ id, parent_id }: Kinship): boolean => id !== undefined && id === parent_id

/** The one wording for a span that is its own parent. */
export const OWN_PARENT = 'must not be the span itself'

const notOwnParent = { error: OWN_PARENT, path: ['parent_id'] }
const hasOtherParent = (span: Kinship) => !isOwnParent(span)

const inOrder = { error: END_BEFORE_START, path: ['end_time'] }

export const CreateSpanRequest = z
  .object({ id: given(SpanId), name, start_time, trace_id: TraceId, ...facts })
  .refine(isInOrder, inOrder)
  .refine(hasOtherParent, notOwnParent)
  .openapi('CreateSpanRequest', {
    description: 'Facts about a span; one that is known already is added to, never changed',
  })

export const UpdateSpanRequest = z
  .object({ name: given(name), start_time: given(start_time), trace_id: given(TraceId), ...facts })
  .refine(isInOrder, inOrder)
  .openapi('UpdateSpanRequest', {
    description:
      'What is left out, or `null`, stays. `input` and `output` are replaced; `data` is merged member by member when both are objects, else replaced; where it would grow beyond 16 MiB the answer is 413.',
  })

/** One item of `PUT /spans/batch`: like a PATCH, but `data` is replaced like every other field. */
export const PutSpanRequest = z
  .object({ id: SpanId, name: given(name), start_time: given(start_time), trace_id: given(TraceId), ...facts })
  .refine(isInOrder, inOrder)
  .refine(hasOtherParent, notOwnParent)
  .openapi('PutSpanRequest', {
    description:
      'What is given replaces what was there, `data` as a whole too; the rest stays. A new span needs `name`, `start_time` and `trace_id`',
  })

export type Span = z.infer<typeof Span>
export type CreateSpanRequest = z.output<typeof CreateSpanRequest>
export type UpdateSpanRequest = z.output<typeof UpdateSpanRequest>
export type PutSpanRequest = z.output<typeof PutSpanRequest>
