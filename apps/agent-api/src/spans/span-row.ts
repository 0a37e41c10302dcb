import { JsonText, jsonTextOf } from '@keelson/contracts'
import type { CreateSpanRequest, Span, UpdateSpanRequest } from '@keelson/contracts/agent'
import { foldData } from './data-log.ts'

/** The facts of a span as they are stored; `null` is "not known (yet)". */
export type SpanFacts = {
  id: string
  trace_id: string
  parent_id: string | null
  task_id: string | null
  name: string
  start_time: string
  end_time: string | null
  input: string | null
  output: string | null
  data: string | null
}

export const PAYLOADS = ['input', 'output', 'data'] as const

export type Payload = (typeof PAYLOADS)[number]

/** The payloads of a written span that its writer did not send. */
export type Stored = {
  payloads: readonly Payload[]
  /** What they weigh together, in bytes. */
  bytes: number
  /** Whether the write brought them along; where it did not, they are `null` here. */
  isRead: boolean
}

/** A span as it is after a write. */
export type WrittenSpan = SpanFacts & { stored?: Stored; omitted?: readonly Payload[] }

type Changes = Omit<SpanFacts, 'id'>

/** What a write may say of a span; `null` says nothing. */
export type SpanPatch = { id: string } & { [Field in keyof Changes]: Changes[Field] | null }

const json = (text: string | null): JsonText | null => (text === null ? null : new JsonText(text))

/** The payloads of a stored span as their readers see them. */
export const presentPayloads = ({ input, output, data }: Pick<SpanFacts, 'input' | 'output' | 'data'>) => ({
  input: json(input),
  output: json(output),
  data: json(data === null ? null : foldData(data)),
})

/** The span as its readers see it. */
export const presentSpan = (row: SpanFacts): Span => ({
  id: row.id,
  name: row.name,
  start_time: row.start_time,
  trace_id: row.trace_id,
  end_time: row.end_time,
  parent_id: row.parent_id,
  task_id: row.task_id,
  ...presentPayloads(row),
})

const text = (value: unknown): string | null => (value === undefined ? null : jsonTextOf(value))

/** What a request says of a span. */
export const patchOf = (id: string, request: UpdateSpanRequest): SpanPatch => ({
  id,
  trace_id: request.trace_id ?? null,
  parent_id: request.parent_id ?? null,
  task_id: request.task_id ?? null,
  name: request.name ?? null,
  start_time: request.start_time ?? null,
  end_time: request.end_time ?? null,
  input: text(request.input),
  output: text(request.output),
  data: text(request.data),
})

/** What a request says of a span that need not exist. */
export const newSpanOf = (id: string, request: CreateSpanRequest): SpanFacts => ({
  ...patchOf(id, request),
  trace_id: request.trace_id,
  name: request.name,
  start_time: request.start_time,
})
