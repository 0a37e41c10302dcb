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

const HEAVY_READS = 2
const ASKED = 30
const SPAN = { trace_id: 't', name: 'n', start_time: '2026-01-01' }

/** Text that Postgres cannot make small enough to keep it in the row. */
const HEAVY = { text: Array.from({ length: 30_000 }, () => crypto.randomUUID()).join('') }
const LIGHT = { a: 1 }

type Client = Awaited<ReturnType<typeof app.client>>

const account = async (): Promise<Client> => {
  const client = await app.client()
  await client.createSpan({ body: { ...SPAN, id: 'heavy', input: HEAVY, data: HEAVY } })
  await client.createSpan({ body: { ...SPAN, id: 'light', data: LIGHT } })
  return client
}

/** Holds up all that reads payloads which are kept outside their rows, until `meanwhile` is over: the rest goes on. */
const payloadsHeldUp = async (meanwhile: () => Promise<void>) => {
  const [table] = await outside.sql<[{ name: string }]>`
    select reltoastrelid::regclass::text as name from pg_class where oid = 'agent.spans'::regclass`
  await outside.sql.begin(async (tx) => {
    await tx.unsafe(`reindex table ${table.name}`)
    await meanwhile()
  })
}

const params = { span_id: 'heavy' }
const again = { ...SPAN, id: 'heavy', data: LIGHT }

test.each([
  ['gets of a heavy span', (client: Client) => client.getSpan({ params })],
  ['patches of one that say nothing', (client: Client) => client.updateSpan({ params, body: {} })],
  ['creates that contradict one', (client: Client) => client.createSpan({ body: again }).catch(() => 'refused')],
])(
  'however many %s an account asks for, two are read at a time, and light spans wait for none of them',
  async (_, read) => {
    const [busy, quiet] = [await account(), await account()]
    const asked: Promise<unknown>[] = []
    await payloadsHeldUp(async () => {
      asked.push(...Array.from({ length: ASKED }, () => read(busy)))
      await eventually(async () => expect(await outside.inFlight()).toBe(HEAVY_READS))
      const light = { span_id: 'light' }
      expect(await quiet.getSpan({ params: light })).toMatchObject({ data: LIGHT })
      expect(await busy.updateSpan({ params: light, body: { data: { b: 2 } } })).toMatchObject({ data: { a: 1, b: 2 } })
      expect(await outside.inFlight()).toBe(HEAVY_READS)
    })
    const answers = await Promise.all(asked)
    for (const answer of answers.filter((one) => one !== 'refused'))
      expect(answer).toMatchObject({ id: 'heavy', input: HEAVY, output: null, data: HEAVY })
  },
)

test('a span whose other facts contradict is refused without reading its payloads', async () => {
  const client = await account()
  await payloadsHeldUp(async () => {
    await expect(client.createSpan({ body: { ...again, name: 'other' } })).rejects.toMatchObject({ status: 409 })
    expect(await outside.inFlight()).toBe(0)
  })
})
