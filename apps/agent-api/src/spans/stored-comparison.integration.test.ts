import { testAccount, testDatabase } from '@keelson/testing'
import { afterAll, expect, test } from 'vitest'
import { SEGMENT } from './data-log.ts'
import type { InTurn } from './fair-turns.ts'
import { keptSpans } from './read-span.ts'
import { createBatch } from './span-batch.ts'
import { spanWriter } from './span-writer.ts'
import { spanStore } from './store.ts'

const database = await testDatabase()
afterAll(() => database[Symbol.asyncDispose]())
const writer = spanWriter(database.db)

const MEBIBYTE = 1_048_576
const MEMBERS = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, index]))
const REVERSED = Object.fromEntries(Object.entries(MEMBERS).toReversed())

const span = (id: string, more: object) => ({
  id,
  trace_id: 't',
  name: 'n',
  start_time: '2026-01-01T00:00:00Z',
  ...more,
})

/** A store that counts how often it reads heavy payloads, and batches on it. */
const counted = async (roomBytes = 16 * MEBIBYTE) => {
  const { account_id } = await testAccount(database.db)
  let turns = 0
  const inTurn: InTurn = (work) => {
    turns += 1
    return work()
  }
  const store = spanStore({ sql: database.db.sql, writer, account_id, inTurn })
  const create = async (items: readonly object[]) => {
    let left = roomBytes
    const results = await createBatch(store, {
      items,
      maxItemBytes: 4 * MEBIBYTE,
      requestId: 'request',
      room: { take: () => true },
      kept: keptSpans((bytes) => (left -= bytes) >= 0),
      isOver: () => false,
      inTurn: (work) => work(),
    })
    return results.map(({ status }) => status)
  }
  return { account_id, create, turns: () => turns }
}

test('a batch reads a heavy span once for all of its items until one of them is written', async () => {
  const { create, turns } = await counted()
  await create([span('one', { data: MEMBERS })])
  const contradictions = Array.from({ length: 300 }, (_, index) => span('one', { data: { a: index } }))
  expect(new Set(await create(contradictions))).toEqual(new Set([409]))
  expect(turns()).toBe(1)
  expect(await create([span('one', { data: { k0: 1 } }), span('one', { data: REVERSED })])).toEqual([409, 200])
  expect(turns()).toBe(2)
})

test('what finds no room is read again for each item, and the answers are the same', async () => {
  const { create, turns } = await counted(0)
  await create([span('one', { data: MEMBERS })])
  expect(await create([1, 2, 3].map((a) => span('one', { data: { a } })))).toEqual([409, 409, 409])
  expect(turns()).toBe(3)
})

test('what was read counts no longer once somebody has changed the span', async () => {
  const { account_id, create, turns } = await counted()
  await create([span('one', { data: MEMBERS })])
  const change = (data: object) => database.db.sql`
    update agent.spans set data = data || ${SEGMENT + JSON.stringify(data)} where account_id = ${account_id} and id = 'one'`
  const items = [span('one', { data: { a: 1 } }), span('one', { data: REVERSED })]
  await change({ a: 1 })
  expect(await create(items)).toEqual([409, 409])
  expect(await create([span('one', { data: { ...REVERSED, a: 1 } })])).toEqual([200])
  expect(turns()).toBe(2)
})

test('payloads and other facts of a light span are compared without a turn', async () => {
  const { create, turns } = await counted()
  const items = [
    { data: { a: 1, b: 2 } },
    { data: { b: 2, a: 1 } },
    { data: { a: 1 } },
    { end_time: '2026-01-02T00:00:00Z' },
  ]
  expect(await create(items.map((more) => span('one', more)))).toEqual([200, 200, 409, 200])
  expect(turns()).toBe(0)
})
