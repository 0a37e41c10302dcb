import { spans } from '@keelson/contracts/agent'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'
import { bodyOf, outcomeOf, someFacts } from './span-facts.fixture.ts'
import { spanModel, type Facts, type Outcome, type SpanModel } from './span-model.fixture.ts'

let app: Awaited<ReturnType<typeof testApp>>
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app[Symbol.asyncDispose]())

type Client = Awaited<ReturnType<typeof app.client>>
type Write = { kind: 'create' | 'patch' | 'put'; facts: Facts }

const ID = 'x'
const params = { span_id: ID }

const write: fc.Arbitrary<Write> = fc.record({
  kind: fc.constantFrom('create' as const, 'create' as const, 'patch' as const, 'put' as const),
  facts: someFacts,
})

/** Of an answer to a batch of one the text of its span. */
const spanIn = (text: string): string =>
  text.slice(text.indexOf('"span":') + '"span":'.length, text.lastIndexOf(',"problem":'))

const send = async (client: Client, { kind, facts }: Write): Promise<Outcome> => {
  const body = bodyOf(facts)
  if (kind === 'create') return outcomeOf(await client.raw(spans.createSpan, { body: { ...body, id: ID } }))
  if (kind === 'patch') return outcomeOf(await client.raw(spans.updateSpan, { params, body }))
  const { text } = await client.raw(spans.putSpanBatch, { body: { spans: [{ ...body, id: ID }] } })
  const { results } = JSON.parse(text) as { results: [{ status: number }] }
  return outcomeOf({ status: results[0].status, text: spanIn(text) })
}

const read = async (client: Client): Promise<Outcome> => outcomeOf(await client.raw(spans.getSpan, { params }))

const permutations = <T>(items: readonly T[]): T[][] =>
  items.length === 0
    ? [[]]
    : items.flatMap((item, at) => permutations(items.toSpliced(at, 1)).map((others) => [item, ...others]))

type Done = { write: Write; outcome: Outcome }

const same = (one: Outcome, other: Outcome): boolean => one.status === other.status && one.span === other.span

/** Whether the writes, done in this order, have these outcomes and leave this span. */
const explains = (before: readonly Write[], order: readonly Done[], after: Outcome): boolean => {
  const model: SpanModel = spanModel()
  for (const { kind, facts } of before) model[kind](ID, facts)
  return (
    order.every(({ write, outcome }) => same(model[write.kind](ID, write.facts), outcome)) && same(model.get(ID), after)
  )
}

test('writes of one span that meet, whatever they are, are answered as if they had come one after the other', async () => {
  const some = fc.array(write, { maxLength: 2 })
  const together = fc.array(write, { minLength: 2, maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(some, together, async (before, writes) => {
      const client = await app.client()
      for (const one of before) await send(client, one)
      const done = await Promise.all(writes.map(async (one) => ({ write: one, outcome: await send(client, one) })))
      const after = await read(client)
      expect(permutations(done).some((order) => explains(before, order, after))).toBe(true)
    }),
    { numRuns: 150, endOnFailure: false },
  )
}, 120_000)
