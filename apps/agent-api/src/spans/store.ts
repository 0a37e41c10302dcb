import { END_BEFORE_START } from '@keelson/contracts/agent'
import { constraintOf, type Database } from '@keelson/database'
import { ApiError, notFound } from '@keelson/service-kit'
import { foldData, segmentsOf } from './data-log.ts'
import type { SpanFacts, SpanPatch } from './span-row.ts'
import type { SpanWriter } from './span-writer.ts'
import type { Written } from './write-spans.ts'

/** After so many patches, `data` is written back as one text. */
const COMPACT_AFTER = 8

const refuseEndBeforeStart = (error: unknown): never => {
  if (constraintOf(error) !== 'spans_end_after_start') throw error
  throw new ApiError('invalid_request', `end_time ${END_BEFORE_START}`, {
    errors: [{ path: 'end_time', message: END_BEFORE_START }],
  })
}

/** The spans of one account. */
export const spanStore = ({ sql }: Pick<Database, 'sql'>, writer: SpanWriter, account_id: string) => {
  const get = async (id: string): Promise<SpanFacts> => {
    const [row] = await sql<SpanFacts[]>`
      select id, trace_id, parent_id, task_id, name, start_time, end_time, input, output, data
      from agent.spans where account_id = ${account_id} and id = ${id}`
    return row ?? notFound('span')
  }

  /** Only if nobody patched in between: a compare-and-set, harmless when it loses. */
  const compact = async (id: string, log: string): Promise<void> => {
    await sql`
      update agent.spans set data = ${foldData(log)} where account_id = ${account_id} and id = ${id} and data = ${log}`
  }

  const change = async (kind: 'put' | 'patch', patch: SpanPatch): Promise<SpanFacts> => {
    const isComplete = patch.trace_id !== null && patch.name !== null && patch.start_time !== null
    const write = (): Promise<Written> => writer[kind]({ ...patch, account_id }).catch(refuseEndBeforeStart)
    // A complete change that found nothing to change, and could not create either, lost a race with a create.
    const row = (await write()) ?? (isComplete ? await write() : null) ?? notFound('span')
    if (row.data !== null && segmentsOf(row.data) > COMPACT_AFTER) await compact(row.id, row.data)
    return row
  }

  return {
    get,

    /**
     * Adds a span, or the facts that an existing one did not have yet.
     * @throws ApiError `span_exists` when a fact differs from what is stored
     */
    async create(span: SpanFacts): Promise<SpanFacts> {
      const row = await writer.create({ ...span, account_id })
      if (row) return row
      throw new ApiError('span_exists')
    },

    /**
     * Overwrites what the patch names; creates the span when the patch is complete.
     * @throws ApiError `not_found`, `invalid_request` when the span would end before it starts
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
