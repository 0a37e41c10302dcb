import { JsonText, writeJson } from '@keelson/contracts'
import { spans } from '@keelson/contracts/agent'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'
import { dataText, spanModel, type Data, type Facts, type Outcome, type SpanModel } from './span-model.fixture.ts'

let app: Awaited<ReturnType<typeof testApp>>
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app[Symbol.asyncDispose]())

type Client = Awaited<ReturnType<typeof app.client>>
type World = { client: Client; model: SpanModel }[]
type Item = { id: string; facts: Facts }
type Write = { account: number } & ({ kind: 'create' | 'patch' | 'put'; items: Item[] } | { kind: 'read'; id: string })

const json = (text: string | null | undefined) => (text ? new JsonText(text) : text)
const bodyOf = (facts: Facts) => ({
  ...facts,
  input: json(facts.input),
  output: json(facts.output),
  data: json(facts.data && dataText(facts.data)),
})

/** What an answer says, its span as the text it came in. */
const outcomeOf = ({ status, text }: { status: number; text: string }): Outcome =>
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
const id = fc.constantFrom('x', 'y', 'z')
const item = (facts: fc.Arbitrary<Facts>) => fc.record({ id, facts })
const account = fc.constantFrom(0, 1)
const some = fc.oneof({ weight: 2, arbitrary: whole }, { weight: 1, arbitrary: partial }) as fc.Arbitrary<Facts>
const write: fc.Arbitrary<Write> = fc.oneof(
  fc.record({
    account,
    kind: fc.constant('create' as const),
    items: fc.array(item(some), { minLength: 1, maxLength: 4 }),
  }),
  fc.record({
    account,
    kind: fc.constant('put' as const),
    items: fc.array(item(some), { minLength: 1, maxLength: 4 }),
  }),
  fc.record({
    account,
    kind: fc.constant('patch' as const),
    items: fc.array(item(some), { minLength: 1, maxLength: 1 }),
  }),
  fc.record({ account, kind: fc.constant('read' as const), id }),
)

const send = async ({ client }: World[number], write: Write): Promise<Outcome[]> => {
  if (write.kind === 'read') return [outcomeOf(await client.raw(spans.getSpan, { params: { span_id: write.id } }))]
  const [first] = write.items as [Item]
  if (write.kind === 'patch') {
    const request = { params: { span_id: first.id }, body: bodyOf(first.facts) }
    return [outcomeOf(await client.raw(spans.updateSpan, request))]
  }
  const bodies = write.items.map(({ id, facts }) => ({ ...bodyOf(facts), id }))
  if (write.kind === 'create' && bodies.length === 1)
    return [outcomeOf(await client.raw(spans.createSpan, { body: bodies[0] }))]
  const route = write.kind === 'create' ? spans.createSpanBatch : spans.putSpanBatch
  const { text } = await client.raw(route, { body: { spans: bodies } })
  const { results } = JSON.parse(text) as { results: { status: number }[] }
  const stored = await Promise.all(write.items.map(({ id }) => client.raw(spans.getSpan, { params: { span_id: id } })))
  return results.map(({ status }, index) => (status === 200 ? { status, span: stored[index]!.text } : { status }))
}

const expected = ({ model }: World[number], write: Write): Outcome[] => {
  if (write.kind === 'read') return [model.get(write.id)]
  const outcomes = write.items.map(({ id, facts }) => model[write.kind](id, facts))
  // A batch is looked at when all of it is done.
  return outcomes.map(({ status }, index) => (status === 200 ? model.get(write.items[index]!.id) : { status }))
}

const shown = (write: Write) =>
  write.kind === 'read' ? write : { ...write, items: write.items.map(({ id, facts }) => ({ id, ...bodyOf(facts) })) }

/** One write at a time as a command of a model-based run. */
const step = (write: Write): fc.AsyncCommand<object, World> => ({
  check: () => true,
  run: async (_, world) => {
    const at = world[write.account]!
    expect(await send(at, write)).toEqual(expected(at, write))
  },
  toString: () => writeJson(shown(write)),
})

test('whatever is written in whatever order, twice or out of order, each account holds what a model in memory says', async () => {
  const steps = fc.commands([write.map((one) => step(one))], { maxCommands: 40, size: 'max' })
  await fc.assert(
    fc.asyncProperty(steps, async (commands) => {
      const world = await Promise.all([0, 1].map(async () => ({ client: await app.client(), model: spanModel() })))
      await fc.asyncModelRun(() => ({ model: {}, real: world }), commands)
      for (const { client, model } of world)
        expect((await client.listSpans()).map(({ id }) => id).toSorted()).toEqual(model.ids().toSorted())
    }),
    { numRuns: 60, endOnFailure: false },
  )
}, 120_000)
