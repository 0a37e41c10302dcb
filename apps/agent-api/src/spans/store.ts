import { END_BEFORE_START } from '@keelson/contracts/agent'
import type { Database } from '@keelson/database'
import { ApiError, notFound } from '@keelson/service-kit'
import { foldData, SEGMENT, segmentsOf } from './data-log.ts'
import type { SpanFacts, SpanPatch } from './span-row.ts'
import type { SpanWriter } from './span-writer.ts'
import { compactData, MAX_DATA_BYTES } from './write-spans.ts'

/** After so many patches, or when they are this large, `data` is written back as one text. */
const COMPACT_AFTER_SEGMENTS = 8
const COMPACT_AFTER_CHARACTERS = 1_048_576

const isDueForCompaction = (log: string): boolean =>
  log.length > COMPACT_AFTER_CHARACTERS ? log.includes(SEGMENT) : segmentsOf(log) > COMPACT_AFTER_SEGMENTS

/** Why a change did not apply to a span that is there by now. */
const refuseChange = (stored: SpanFacts, patch: SpanPatch): never => {
  const [start, end] = [patch.start_time ?? stored.start_time, patch.end_time ?? stored.end_time]
  if (end !== null && end.slice(0, -1) < start.slice(0, -1))
    throw new ApiError('invalid_request', `end_time ${END_BEFORE_START}`, {
      errors: [{ path: 'end_time', message: END_BEFORE_START }],
    })
  if (Buffer.byteLength(stored.data ?? '') + Buffer.byteLength(patch.data ?? '') > MAX_DATA_BYTES)
    throw new ApiError('payload_too_large', `data would grow beyond ${MAX_DATA_BYTES} bytes`)
  return notFound('span')
}

/** The spans of one account. */
export const spanStore = ({ sql }: Pick<Database, 'sql'>, writer: SpanWriter, account_id: string) => {
  const get = async (id: string): Promise<SpanFacts> => {
    const [row] = await sql<SpanFacts[]>`
      select id, trace_id, parent_id, task_id, name, start_time, end_time, input, output, data
      from agent.spans where account_id = ${account_id} and id = ${id}`
    return row ?? notFound('span')
  }

  const compact = (id: string, log: string): Promise<void> =>
    compactData({ sql }, { account_id, id, log, folded: foldData(log) })

  const change = async (kind: 'put' | 'patch', patch: SpanPatch): Promise<SpanFacts> => {
    const isComplete = patch.trace_id !== null && patch.name !== null && patch.start_time !== null
    const write = () => writer[kind]({ ...patch, account_id })
    // A complete change that found nothing to change, and could not create either, may have lost a race with a create.
    const row = (await write()) ?? (isComplete ? await write() : null)
    if (row === null) return refuseChange(await get(patch.id), patch)
    if (row.data !== null && isDueForCompaction(row.data)) await compact(row.id, row.data)
    return row
  }

  return {
    get,

    /**
     * Adds a span, or the facts that an existing one did not have yet.
     * @throws ApiError `span_exists` when a fact differs from what is stored
     */
    async create(span: SpanFacts): Promise<SpanFacts> {
      const write = { ...span, account_id }
      const row = await writer.create(write)
      if (row) return row
      // Whether `data` says the same shows once its patches are folded.
      const { data } = await get(span.id)
      if (data?.includes(SEGMENT) && foldData(data) === span.data) {
        await compact(span.id, data)
        const merged = await writer.create(write)
        if (merged) return merged
      }
      throw new ApiError('span_exists')
    },

    /**
     * Overwrites what the patch names; creates the span when the patch is complete.
     * @throws ApiError `not_found`, `invalid_request` when the span would end before it starts, `payload_too_large`
     * when its `data` would grow too large
     */
    put: (patch: SpanPatch) => change('put', patch),

    /** Like `put`, but `data` merges by its top-level keys. */
    async patch(patch: SpanPatch): Promise<SpanFacts> {
      const { id, ...changes } = patch
      const saysNothing = Object.values(changes).every((value) => value === null)
      return saysNothing ? get(id) : change('patch', patch)
    },
  }
}
