import { writeJson } from '@keelson/contracts'
import { spans } from '@keelson/contracts/agent'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'
import { bodyOf, outcomeOf, someFacts } from './span-facts.fixture.ts'
import { spanModel, type Item, type Outcome, type SpanModel } from './span-model.fixture.ts'

let app: Awaited<ReturnType<typeof testApp>>
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app[Symbol.asyncDispose]())

type Client = Awaited<ReturnType<typeof app.client>>
type World = { client: Client; model: SpanModel }[]
type Write = { account: number } & ({ kind: 'create' | 'patch' | 'put'; items: Item[] } | { kind: 'read'; id: string })

const id = fc.constantFrom('x', 'y', 'z')
const item = fc.record({ id, facts: someFacts })
const account = fc.constantFrom(0, 1)
const write: fc.Arbitrary<Write> = fc.oneof(
  fc.record({
    account,
    kind: fc.constant('create' as const),
    items: fc.array(item, { minLength: 1, maxLength: 4 }),
  }),
  fc.record({
    account,
    kind: fc.constant('put' as const),
    items: fc.array(item, { minLength: 1, maxLength: 4 }),
  }),
  fc.record({
    account,
    kind: fc.constant('patch' as const),
    items: fc.array(item, { minLength: 1, maxLength: 1 }),
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
  const { kind, items } = write
  const outcomes = kind === 'put' ? model.putAll(items) : items.map(({ id, facts }) => model[kind](id, facts))
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
