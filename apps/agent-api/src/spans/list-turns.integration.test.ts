import { eventually } from '@keelson/testing'
import { afterAll, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'
import { outsideOf } from './held-up.fixture.ts'

const app = await testApp()
const outside = outsideOf(app)
afterAll(async () => {
  await outside[Symbol.asyncDispose]()
  await app[Symbol.asyncDispose]()
})

const ASKED = 30

type Client = Awaited<ReturnType<typeof app.client>>

/** Of one who has called before: whose key is known takes no connection to be admitted. */
const account = async (): Promise<Client> => {
  const client = await app.client()
  await client.createSpan({ body: { id: 'first', trace_id: 't', name: 'n', start_time: '2026-01-01' } })
  return client
}

/** Holds up all that reads or writes spans until `meanwhile` is over. */
const heldUp = (meanwhile: () => Promise<void>) =>
  outside.sql.begin(async (tx) => {
    await tx`lock table agent.spans in access exclusive mode`
    await meanwhile()
  })

const PLACES = Math.floor(app.db.sql.options.max / 3)

test.each([
  ['lists', (client: Client) => client.listSpans({})],
  ['traces', (client: Client) => client.getTrace({ params: { trace_id: 't' } })],
  [
    'traces with payload',
    (client: Client) => client.getTrace({ params: { trace_id: 't' }, query: { include: 'payload' } }),
  ],
])('however many %s an account asks for, others find connections to write with', async (_, read) => {
  const [busy, quiet] = [await account(), await account()]
  const asked: Promise<unknown>[] = []
  await heldUp(async () => {
    asked.push(...Array.from({ length: ASKED }, () => read(busy)))
    await eventually(async () => expect(await outside.inFlight()).toBe(PLACES))
    asked.push(quiet.updateSpan({ params: { span_id: 'first' }, body: { output: {} } }))
    await eventually(async () => expect(await outside.inFlight()).toBe(PLACES + 1))
  })
  expect(await Promise.all(asked)).toHaveLength(ASKED + 1)
})

test('an account that asks for many lists is not before another that asks for one', async () => {
  const [busy, quiet] = [await account(), await account()]
  let answered = 0
  const asked: Promise<unknown>[] = []
  await heldUp(async () => {
    asked.push(...Array.from({ length: ASKED }, () => busy.listSpans({}).then(() => (answered += 1))))
    asked.push(quiet.listSpans({}).then(() => expect(answered).toBeLessThan(ASKED / 2)))
    await eventually(async () => expect(await outside.inFlight()).toBe(PLACES))
  })
  await Promise.all(asked)
  expect(answered).toBe(ASKED)
})
