import { JsonText } from '@keelson/contracts'
import fc from 'fast-check'
import { dataText, type Data, type Facts, type Outcome } from './span-model.fixture.ts'

const json = (text: string | null | undefined) => (text ? new JsonText(text) : text)
/** A request that says these facts. */
export const bodyOf = (facts: Facts) => ({
  ...facts,
  input: json(facts.input),
  output: json(facts.output),
  data: json(facts.data && dataText(facts.data)),
})

/** What an answer says, its span as the text it came in. */
export const outcomeOf = ({ status, text }: { status: number; text: string }): Outcome =>
  status === 200 ? { status, span: text } : { status }

const VALUES = ['1', '1.0', '12345678901234567890', '-0', '"\\u0000"', '"\\ud800"', '"\\u00e9"', 'null', '[1,{"b":2}]']
const value = fc.constantFrom(...VALUES)
const key = fc.constantFrom('a', 'b', '2', '1', '__proto__', 'é')
const members: fc.Arbitrary<Data> = fc.array(fc.tuple(key, value), { maxLength: 3 }).map((entries) => new Map(entries))
const data = fc.oneof({ weight: 4, arbitrary: members }, { weight: 1, arbitrary: fc.constant('[{"b":1.0}]') })
const payload = fc.oneof(members.map(dataText), fc.constant('[]'))

const TIMES = ['2026-01-01', '2026-01-01T01:00:00+01:00', '2026-01-01T00:00:00.000001Z', '2026-01-02T00:00:00Z']
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { freq: 2 })
const optional = {
  end_time: maybe(fc.constantFrom(...TIMES)),
  parent_id: maybe(fc.constantFrom('p', 'q')),
  task_id: maybe(fc.constantFrom('task', 't1')),
  input: maybe(payload),
  output: maybe(payload),
  data: maybe(data),
}
/** Mostly of the same span, so that creates agree often and everything meets. */
const whole = fc.record({
  trace_id: fc.constantFrom('t1', 't1', 't1', 't2'),
  name: fc.constant('n'),
  start_time: fc.constantFrom(TIMES[2]!, TIMES[2]!, TIMES[2]!, TIMES[0]!),
  ...optional,
})
const partial = fc.record({
  trace_id: maybe(fc.constantFrom('t1', 't2')),
  name: maybe(fc.constantFrom('n', 'm')),
  start_time: maybe(fc.constantFrom(...TIMES)),
  ...optional,
})

/** What a write says: mostly all that a span needs. */
export const someFacts = fc.oneof(
  { weight: 2, arbitrary: whole },
  { weight: 1, arbitrary: partial },
) as fc.Arbitrary<Facts>
