import type { Database } from '@keelson/database'
import type { InTurn } from './fair-turns.ts'
import type { Payload, SpanFacts, WrittenSpan } from './span-row.ts'

/** Where the stored payloads of an answer find room. */
export type Room = {
  /** Takes this much of it; `false` when there is not enough left: then they are left out. */
  take: (bytes: number) => boolean
}

type Deps = Pick<Database, 'sql'> & { account_id: string; inTurn: InTurn }

const withPayloads = (span: WrittenSpan, payloads: readonly Payload[], read: Pick<SpanFacts, Payload> | null) => ({
  ...span,
  ...Object.fromEntries(payloads.map((field) => [field, read?.[field] ?? null])),
})

/**
 * Completes what a write answered: payloads that were too heavy for its statement are read now, a few at a time, and
 * those for which the answer has no room are left out, which `omitted` tells.
 */
export const spanCompleter = ({ sql, account_id, inTurn }: Deps) => {
  const read = ({ id }: WrittenSpan) =>
    inTurn(async () => {
      const [row] = await sql<Pick<SpanFacts, Payload>[]>`
        select input, output, data from agent.spans where account_id = ${account_id} and id = ${id}`
      return row
    })

  return async (span: WrittenSpan, room: Room): Promise<WrittenSpan> => {
    const { stored } = span
    if (!stored) return span
    const { payloads, bytes, isRead } = stored
    const hasRoom = room.take(bytes)
    if (hasRoom && isRead) return span
    const found = hasRoom ? await read(span) : undefined
    return found ? withPayloads(span, payloads, found) : { ...withPayloads(span, payloads, null), omitted: payloads }
  }
}
