import type { Database } from '@keelson/database'
import type { InTurn } from './fair-turns.ts'
import { type Payload, PAYLOADS, type SpanFacts } from './span-row.ts'

/** Payloads of a span that weigh more than this together are read in turns. */
const LIGHT_BYTES = 524_288

/** A span as one version of its row has it. */
export type StoredSpan = SpanFacts & {
  /** The transaction that wrote the row last: where it is the same, so are the payloads. */
  version: string
  bytes: number
}

type Row = StoredSpan & { fits: boolean }

/** Heavy spans that were read for the items of one batch. */
export type KeptSpans = {
  of: (key: string, version: string) => StoredSpan | undefined
  keep: (key: string, span: StoredSpan) => void
}

const KEEPS_NONE: KeptSpans = { of: () => undefined, keep: () => {} }

/**
 * Keeps heavy spans for as long as a batch lasts, where there is room: of a thousand items of one span the first alone
 * has to read it.
 */
export const keptSpans = (take: (bytes: number) => boolean): KeptSpans => {
  const kept = new Map<string, StoredSpan>()
  return {
    of: (key, version) => {
      const span = kept.get(key)
      return span?.version === version ? span : undefined
    },
    keep: (key, span) => {
      if (take(span.bytes)) kept.set(key, span)
    },
  }
}

/** What is done with a span as it is stored; `undefined` when there is none. */
type Work<T> = (span: StoredSpan | undefined) => T | Promise<T>

type ReadOptions = {
  kept?: KeptSpans | undefined
  /** Looks at what is known of a heavy span without its payloads; what it throws spares reading them. */
  glance?: (span: StoredSpan) => void
}

export type ReadSpan = <T>(id: string, payloads: readonly Payload[], work: Work<T>, options?: ReadOptions) => Promise<T>

type Deps = Pick<Database, 'sql'> & { account_id: string; inTurn: InTurn }

/**
 * Reads the spans of one account with some of their payloads. A light span is read by one statement and waits for
 * nobody. Of a heavy one that statement brings the sizes alone; its payloads are read, and worked with, in a turn.
 */
export const spanReader = ({ sql, account_id, inTurn }: Deps): ReadSpan => {
  const select = async (
    id: string,
    payloads: readonly Payload[],
    maxBytes: number | null,
  ): Promise<Row | undefined> => {
    const bytes = payloads.map((field) => `coalesce(${field}_bytes, 0)`).join(' + ') || '0'
    const fits = maxBytes === null ? 'true' : `${bytes} <= ${maxBytes}`
    const textOf = (field: Payload) => (maxBytes === null ? field : `case when ${fits} then ${field} end`)
    const columns = PAYLOADS.map((field) => `${payloads.includes(field) ? textOf(field) : 'null'} as ${field}`)
    const [row] = await sql<Row[]>`
      select id, trace_id, parent_id, task_id, name, start_time, end_time, ${sql.unsafe(columns.join(', '))},
        xmin::text as version, ${sql.unsafe(`${bytes} as bytes, ${fits} as fits`)}
      from agent.spans where account_id = ${account_id} and id = ${id}`
    return row
  }

  return async (id, payloads, work, { kept = KEEPS_NONE, glance } = {}) => {
    const found = await select(id, payloads, LIGHT_BYTES)
    if (!found || found.fits) return work(found)
    glance?.(found)
    const key = `${payloads.join(' ')} ${id}`
    const known = kept.of(key, found.version)
    if (known) return work(known)
    return inTurn(async () => {
      const whole = await select(id, payloads, null)
      if (whole) kept.keep(key, whole)
      return work(whole)
    })
  }
}
