import { expect, test } from 'vitest'
import { keptSpans } from './read-span.ts'
import { createBatch } from './span-batch.ts'
import type { SpanFacts } from './span-row.ts'
import type { spanStore } from './store.ts'

const batchOf = (ids: readonly string[], isOver: () => boolean) => ({
  items: ids.map((id) => ({ id, trace_id: 't', name: 'n', start_time: '2026-01-01' })),
  maxItemBytes: 1000,
  requestId: 'request',
  room: { take: () => true },
  kept: keptSpans(() => true),
  isOver,
  inTurn: <T>(work: () => Promise<T>) => work(),
})

const storeThat = (onCreate: (span: SpanFacts) => void) =>
  ({
    create: (span: SpanFacts) => {
      onCreate(span)
      return Promise.resolve(span)
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
