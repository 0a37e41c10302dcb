import { foldData, SEGMENT } from './data-log.ts'
import { saySame } from './say-same.ts'
import { PAYLOADS, type SpanFacts } from './span-row.ts'

const PLAIN = ['trace_id', 'parent_id', 'task_id', 'name', 'start_time', 'end_time'] as const

/** What logs of spans say that are compared again and again, for as long as they are kept. */
const folded = new WeakMap<SpanFacts, string>()

const dataOf = (stored: SpanFacts, log: string): string => {
  if (!log.includes(SEGMENT)) return log
  const known = folded.get(stored)
  if (known !== undefined) return known
  const data = foldData(log)
  folded.set(stored, data)
  return data
}

/** Whether no fact of a span contradicts what is stored. */
export const agree = (stored: SpanFacts, span: SpanFacts): boolean =>
  PLAIN.every((field) => stored[field] === null || span[field] === null || stored[field] === span[field]) &&
  PAYLOADS.every((field) => {
    const [one, other] = [stored[field], span[field]]
    return one === null || other === null || saySame(field === 'data' ? dataOf(stored, one) : one, other)
  })
