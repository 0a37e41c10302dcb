import type { Database } from '@keelson/database'
import { ApiError, notFound } from '@keelson/service-kit'
import { ATTEMPTS, contended, spanChanger } from './change-span.ts'
import { foldData, saySame } from './data-log.ts'
import type { SpanFacts, SpanPatch } from './span-row.ts'
import type { SpanWriter } from './span-writer.ts'

const PLAIN = ['trace_id', 'parent_id', 'task_id', 'name', 'start_time', 'end_time'] as const
const PAYLOADS = ['input', 'output', 'data'] as const

/** Whether no fact of a span contradicts what is stored. */
const agree = (stored: SpanFacts, span: SpanFacts): boolean =>
  PLAIN.every((field) => stored[field] === null || span[field] === null || stored[field] === span[field]) &&
  PAYLOADS.every((field) => {
    const [one, other] = [stored[field], span[field]]
    return one === null || other === null || saySame(field === 'data' ? foldData(one) : one, other)
  })

/** The spans of one account. */
export const spanStore = ({ sql }: Pick<Database, 'sql'>, writer: SpanWriter, account_id: string) => {
  const find = async (id: string): Promise<SpanFacts | undefined> => {
    const [row] = await sql<SpanFacts[]>`
      select id, trace_id, parent_id, task_id, name, start_time, end_time, input, output, data
      from agent.spans where account_id = ${account_id} and id = ${id}`
    return row
  }

  const get = async (id: string): Promise<SpanFacts> => (await find(id)) ?? notFound('span')

  const change = spanChanger({ sql, writer, account_id, get })

  return {
    get,

    /**
     * Adds a span, or the facts that an existing one did not have yet.
     * @throws ApiError `span_exists` when a fact differs from what is stored
     */
    async create(span: SpanFacts): Promise<SpanFacts> {
      let write = { ...span, account_id }
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        const row = await writer.create(write)
        if (row) return row
        const stored = await find(span.id)
        if (stored && !agree(stored, span)) throw new ApiError('span_exists')
        // The statement compares texts, so what says the same is given in the words that are stored.
        const { input, output, data } = stored ?? span
        write = { ...write, input: input ?? span.input, output: output ?? span.output, data: data ?? span.data }
      }
      return contended()
    },

    /**
     * Overwrites what the patch names; creates the span when the patch is complete.
     * @throws ApiError `not_found`, `invalid_request` when the span would end before it starts
     */
    put: (patch: SpanPatch) => change('put', patch),

    /**
     * Like `put`, but `data` merges by its top-level keys.
     * @throws ApiError `payload_too_large` when `data` would grow too large
     */
    async patch(patch: SpanPatch): Promise<SpanFacts> {
      const { id, ...changes } = patch
      const saysNothing = Object.values(changes).every((value) => value === null)
      return saysNothing ? get(id) : change('patch', patch)
    },
  }
}
