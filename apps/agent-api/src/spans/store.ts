import type { Database } from '@keelson/database'
import { ApiError, notFound } from '@keelson/service-kit'
import { agree } from './agreement.ts'
import { type Room, spanCompleter } from './answered-span.ts'
import { ATTEMPTS, contended, spanChanger } from './change-span.ts'
import type { InTurn } from './fair-turns.ts'
import { type KeptSpans, spanReader, type StoredSpan } from './read-span.ts'
import { type Payload, PAYLOADS, type SpanFacts, type SpanPatch, type WrittenSpan } from './span-row.ts'
import type { SpanWriter } from './span-writer.ts'

/** A lone span always has room. */
const ROOM_FOR_ONE: Room = { take: () => true }

export type SpanStoreDeps = Pick<Database, 'sql'> & {
  writer: SpanWriter
  account_id: string
  /** Heavy payloads are read in turn, so that many who write heavy spans do not hold all of them at once. */
  inTurn: InTurn
}

/** The spans of one account. */
export const spanStore = ({ sql, writer, account_id, inTurn }: SpanStoreDeps) => {
  const read = spanReader({ sql, account_id, inTurn })

  const get = async (id: string, payloads: readonly Payload[] = PAYLOADS): Promise<SpanFacts> =>
    (await read(id, payloads, (span) => span)) ?? notFound('span')

  const complete = spanCompleter({ sql, account_id, inTurn })
  const change = spanChanger({ sql, writer, account_id, read, complete })

  return {
    get,

    /**
     * Adds a span, or the facts that an existing one did not have yet.
     * @param kept where the items of a batch find what others of them have read
     * @throws ApiError `span_exists` when a fact differs from what is stored
     */
    async create(span: SpanFacts, room = ROOM_FOR_ONE, kept?: KeptSpans): Promise<WrittenSpan> {
      const given = PAYLOADS.filter((field) => span[field] !== null)
      const compare = (stored: StoredSpan | undefined) => {
        if (stored && !agree(stored, span)) throw new ApiError('span_exists')
        return stored
      }
      let write = { ...span, account_id }
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        const row = await writer.create(write)
        if (row) return complete(row, room)
        const stored = await read(span.id, given, compare, { kept, glance: compare })
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
    put: (patch: SpanPatch, room = ROOM_FOR_ONE) => change('put', patch, room),

    /**
     * Like `put`, but `data` merges by its top-level keys.
     * @throws ApiError `payload_too_large` when `data` would grow too large
     */
    async patch(patch: SpanPatch): Promise<WrittenSpan> {
      const { id, ...changes } = patch
      const saysNothing = Object.values(changes).every((value) => value === null)
      return saysNothing ? get(id) : change('patch', patch, ROOM_FOR_ONE)
    },
  }
}
