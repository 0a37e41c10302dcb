import { END_BEFORE_START, isInOrder, START_AFTER_END } from '@keelson/contracts/agent'
import type { Database } from '@keelson/database'
import { ApiError, invalidField, notFound } from '@keelson/service-kit'
import type { Room } from './answered-span.ts'
import { foldData, SEGMENT, segmentsOf } from './data-log.ts'
import type { ReadSpan } from './read-span.ts'
import type { SpanFacts, SpanPatch, WrittenSpan } from './span-row.ts'
import type { SpanWriter } from './span-writer.ts'
import { changeSpans, compactData, MAX_DATA_BYTES } from './write-spans.ts'

/** After so many patches, or when they are this large together, `data` is written back as one text. */
const COMPACT_AFTER_SEGMENTS = 8
const COMPACT_AFTER_CHARACTERS = 1_048_576

const isDueForCompaction = (log: string): boolean => {
  const patches = log.indexOf(SEGMENT)
  if (patches === -1) return false
  return log.length - patches > COMPACT_AFTER_CHARACTERS || segmentsOf(log) > COMPACT_AFTER_SEGMENTS
}

/** How often a write is tried whose span others change meanwhile. */
export const ATTEMPTS = 8

export const contended = (): never => {
  throw new ApiError('unavailable', 'Others are changing the span; try again', { retryAfterSeconds: 1 })
}

const refuseEarlyEnd = (stored: SpanFacts, patch: SpanPatch): void => {
  const [start_time, end_time] = [patch.start_time ?? stored.start_time, patch.end_time ?? stored.end_time]
  if (isInOrder({ start_time, end_time })) return
  if (patch.end_time === null) invalidField('start_time', START_AFTER_END)
  invalidField('end_time', END_BEFORE_START)
}

type Deps = Pick<Database, 'sql'> & {
  writer: SpanWriter
  account_id: string
  read: ReadSpan
  complete: (span: WrittenSpan, room: Room) => Promise<WrittenSpan>
}

/** Changes the spans of one account. */
export const spanChanger = ({ sql, writer, account_id, read, complete }: Deps) => {
  const compacted = async (row: WrittenSpan, log: string): Promise<WrittenSpan> => {
    const data = foldData(log)
    await compactData({ sql }, { account_id, id: row.id, log, folded: data })
    return { ...row, data }
  }

  /** Merges `data` here, where the log alone would be too long; `null` where it would not be any more. */
  const mergeHere = async (patch: SpanPatch, stored: SpanFacts): Promise<WrittenSpan | null> => {
    if (stored.data === null) return null
    const log = `${stored.data}${SEGMENT}${patch.data}`
    if (Buffer.byteLength(log) <= MAX_DATA_BYTES) return null
    const data = foldData(log)
    if (Buffer.byteLength(data) > MAX_DATA_BYTES)
      throw new ApiError('payload_too_large', `data would grow beyond ${MAX_DATA_BYTES} bytes`)
    const [row] = await changeSpans({ sql }, [{ ...patch, data, account_id }], 'replace', stored.data)
    return row ?? null
  }

  /** Of a change that did not apply: says why it cannot, or tries another way; `null` where it may apply by now. */
  const retry = (kind: 'put' | 'patch', patch: SpanPatch): Promise<WrittenSpan | null> => {
    const isMerge = kind === 'patch' && patch.data !== null
    const glance = (stored: SpanFacts | undefined): SpanFacts => {
      if (!stored) return notFound('span')
      refuseEarlyEnd(stored, patch)
      return stored
    }
    return read(patch.id, isMerge ? ['data'] : [], (stored) => mergeHere(patch, glance(stored)), { glance })
  }

  return async (kind: 'put' | 'patch', patch: SpanPatch, room: Room): Promise<WrittenSpan> => {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const row = (await writer[kind]({ ...patch, account_id })) ?? (await retry(kind, patch))
      if (row === null) continue
      const span = await complete(row, room)
      return span.data !== null && isDueForCompaction(span.data) ? compacted(span, span.data) : span
    }
    return contended()
  }
}
