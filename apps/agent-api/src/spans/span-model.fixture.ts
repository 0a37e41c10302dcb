import { isDeepStrictEqual } from 'node:util'
import { normaliseTimestamp } from '@keelson/contracts'

/** What a request says, its free-form fields as JSON text; `null` and absent say nothing. */
export type Facts = {
  trace_id?: string | null
  name?: string | null
  start_time?: string | null
  end_time?: string | null
  parent_id?: string | null
  task_id?: string | null
  input?: string | null
  output?: string | null
  data?: Data | null
}

/** The members of an object by name, each as JSON text, or a list as JSON text. */
export type Data = ReadonlyMap<string, string> | string

export type Item = { id: string; facts: Facts }

export type Outcome = { status: number; span?: string }

const FIELDS = ['trace_id', 'name', 'start_time', 'end_time', 'parent_id', 'task_id', 'input', 'output'] as const
const REQUIRED = ['trace_id', 'name', 'start_time'] as const

export const dataText = (data: Data): string =>
  typeof data === 'string' ? data : `{${[...data].map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`

const TIMES: ReadonlySet<string> = new Set(['start_time', 'end_time'])

const instant = (time: string | null | undefined) => (time ? normaliseTimestamp(time) : null)

const isComplete = (facts: Facts) => REQUIRED.every((field) => typeof facts[field] === 'string')

const endsEarly = ({ start_time, end_time }: Facts): boolean => {
  const [start, end] = [start_time, end_time].map((time) => normaliseTimestamp(time ?? '')?.slice(0, -1))
  return start !== undefined && end !== undefined && end < start
}

/** The JSON text of a span as the service answers it. */
const spanText = (id: string, span: Facts): string => {
  const text = (value: unknown) => JSON.stringify(value ?? null)
  const time = (value: string | null | undefined) => text(instant(value))
  const data = span.data ? dataText(span.data) : 'null'
  return `{"id":${text(id)},"name":${text(span.name)},"start_time":${time(span.start_time)},"trace_id":${text(span.trace_id)},"end_time":${time(span.end_time)},"parent_id":${text(span.parent_id)},"task_id":${text(span.task_id)},"input":${span.input ?? 'null'},"output":${span.output ?? 'null'},"data":${data}}`
}

const merged = (stored: Data | null | undefined, patch: Data): Data =>
  stored instanceof Map && patch instanceof Map ? new Map([...stored, ...patch]) : patch

/** Items that say too little wait for one that makes their span, unless it would end before it starts with them. */
const putAll = (put: (id: string, facts: Facts) => Outcome, items: readonly Item[]): Outcome[] => {
  const outcomes: Outcome[] = []
  const waiting = new Map<string, { facts: Facts; indexes: number[] }>()
  for (const [index, { id, facts }] of items.entries()) {
    const { facts: earlier = {}, indexes = [] } = waiting.get(id) ?? {}
    const given = Object.fromEntries(Object.entries(facts).filter(([, value]) => value)) as Facts
    const together = { ...earlier, ...given }
    const isTogether = !endsEarly(facts) && !endsEarly(together)
    const outcome = put(id, isTogether ? together : facts)
    outcomes.push(outcome)
    if (isTogether && outcome.status === 404) waiting.set(id, { facts: together, indexes: [...indexes, index] })
    if (outcome.status !== 200) continue
    if (isTogether) for (const folded of indexes) outcomes[folded] = outcome
    waiting.delete(id)
  }
  return outcomes
}

/** What one account's spans should be after each write, in memory and one write after the other. */
export const spanModel = () => {
  const spans = new Map<string, Facts>()

  const answer = (id: string): Outcome => {
    const span = spans.get(id)
    return span ? { status: 200, span: spanText(id, span) } : { status: 404 }
  }

  const store = (id: string, span: Facts): Outcome => {
    if (endsEarly(span)) return { status: 422 }
    spans.set(id, span)
    return answer(id)
  }

  const contradicts = (stored: Facts, facts: Facts): boolean =>
    FIELDS.some((field) => {
      const [one, other] = [stored[field], facts[field]].map((fact) => (TIMES.has(field) ? instant(fact) : fact))
      return typeof one === 'string' && typeof other === 'string' && one !== other
    }) || Boolean(stored.data && facts.data && !isDeepStrictEqual(stored.data, facts.data))

  const change = (id: string, facts: Facts, dataOf: (stored: Facts | undefined) => Data | null): Outcome => {
    const stored = spans.get(id)
    if (endsEarly(facts)) return { status: 422 }
    if (!stored && !isComplete(facts)) return { status: 404 }
    const given = Object.fromEntries(FIELDS.flatMap((field) => (facts[field] ? [[field, facts[field]]] : [])))
    return store(id, { ...stored, ...given, data: dataOf(stored) })
  }

  const put = (id: string, facts: Facts): Outcome => change(id, facts, (stored) => facts.data ?? stored?.data ?? null)

  return {
    ids: () => [...spans.keys()],
    get: answer,
    create: (id: string, facts: Facts): Outcome => {
      const stored = spans.get(id)
      if (!isComplete(facts) || endsEarly(facts)) return { status: 422 }
      if (stored && contradicts(stored, facts)) return { status: 409 }
      const known = Object.fromEntries(Object.entries(stored ?? {}).filter(([, value]) => value))
      return store(id, { ...facts, ...known })
    },
    patch: (id: string, facts: Facts): Outcome =>
      change(id, facts, (stored) => (facts.data ? merged(stored?.data, facts.data) : (stored?.data ?? null))),
    put,
    putAll: (items: readonly Item[]): Outcome[] => putAll(put, items),
  }
}

export type SpanModel = ReturnType<typeof spanModel>
