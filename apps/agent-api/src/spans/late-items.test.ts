import { expect, test } from 'vitest'
import type { InTurn } from './fair-turns.ts'
import { keptSpans } from './read-span.ts'
import { createBatch } from './span-batch.ts'
import type { SpanFacts } from './span-row.ts'
import type { spanStore } from './store.ts'

const oneAfterTheOther = (): InTurn => {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const done = last.then(work)
    last = done
    return done
  }
}

const batchOf = (ids: readonly string[], isOver = () => false) => ({
  items: ids.map((id) => ({ id, trace_id: 't', name: 'n', start_time: '2026-01-01' })),
  maxItemBytes: 1000,
  requestId: 'request',
  room: { take: () => true },
  kept: keptSpans(() => true),
  isOver,
  inTurn: oneAfterTheOther(),
})

const storeThat = (onCreate: (span: SpanFacts) => void) =>
  ({
    create: async (span: SpanFacts) => {
      onCreate(span)
      return span
    },
  }) as unknown as ReturnType<typeof spanStore>

test('items that have not begun when nobody waits any more do not begin, also behind others of their span', async () => {
  let begun = 0
  const store = storeThat(() => (begun += 1))
  const results = await createBatch(
    store,
    batchOf(['same', 'same', 'same', 'same'], () => begun === 2),
  )
  expect(begun).toBe(2)
  expect(results.map(({ status }) => status)).toEqual([200, 200, 503, 503])
})

test('a batch of which nothing has begun by then is 503 as a whole', async () => {
  const store = storeThat(() => expect.unreachable())
  await expect(
    createBatch(
      store,
      batchOf(['one', 'two'], () => true),
    ),
  ).rejects.toMatchObject({ code: 'unavailable' })
})

test('a row that others hold sinks its own items alone: those behind it are not tried, whatever turn comes next is', async () => {
  const tried: string[] = []
  const store = storeThat(({ id }) => {
    tried.push(id)
    if (id === 'locked') throw Object.assign(new Error('lock timeout'), { code: '55P03' })
  })
  const ids = Array.from({ length: 250 }, (_, index) => (index % 50 === 7 ? 'locked' : `span ${index}`))
  const results = await createBatch(store, batchOf(ids))
  expect(results.map(({ status }) => status)).toEqual(ids.map((id) => (id === 'locked' ? 503 : 200)))
  expect(tried.filter((id) => id === 'locked')).toHaveLength(1)
})

test('what fails every item, such as a lost connection, keeps those that have not begun from trying', async () => {
  let tried = 0
  const store = storeThat(() => {
    tried += 1
    if (tried === 50) throw Object.assign(new Error('connection lost'), { code: 'CONNECTION_CLOSED' })
  })
  const ids = Array.from({ length: 250 }, (_, index) => `span ${index}`)
  const results = await createBatch(store, batchOf(ids))
  expect(tried).toBe(100)
  expect(results.filter(({ status }) => status === 200)).toHaveLength(99)
})
