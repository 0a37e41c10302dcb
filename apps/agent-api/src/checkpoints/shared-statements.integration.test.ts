import { afterAll, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'
import { base64, checkpointAccount, codeOf } from './account.fixture.ts'

const app = await testApp()
afterAll(() => app[Symbol.asyncDispose]())

const THREADS = Array.from({ length: 40 }, (_, index) => `t-${index}`)
const at = (index: number, every: number) => index % every === 0

test('puts that share a statement succeed and are refused each by itself, whoever they are of', async () => {
  const accounts = await Promise.all([checkpointAccount(app), checkpointAccount(app)])
  for (const { client, step } of accounts) {
    await Promise.all(THREADS.map((thread) => step(thread, 1)))
    await client.deleteThread({ body: { thread_id: 't-1' } })
  }
  const outcomes = await Promise.all(
    accounts.flatMap(({ step }) =>
      THREADS.map((thread, index) => {
        const conflict = [{ channel: 'c', version: 'cp-1', type: 'json', blob: base64('other') }]
        return codeOf(step(thread, 2, at(index, 10) ? { blobs: conflict } : {}))
      }),
    ),
  )
  const expected = THREADS.map((_, index) => {
    if (index === 1) return 'thread_deleted'
    return at(index, 10) ? 'version_conflict' : 'ok'
  })
  expect(outcomes).toEqual([...expected, ...expected])
  for (const { client } of accounts)
    for (const [index, thread_id] of THREADS.entries()) {
      const tuple = await client.getCheckpointTuple({ body: { thread_id } })
      expect(tuple?.checkpoint_id).toBe({ ok: 'cp-2', version_conflict: 'cp-1' }[expected[index] as string])
    }
})

test('writes that share a statement keep what was there, or replace it, each as it asks', async () => {
  const { client, step } = await checkpointAccount(app)
  await Promise.all(THREADS.map((thread) => step(thread, 1)))
  const write = (thread_id: string, text: string, upsert: boolean) =>
    client.putCheckpointWrites({
      body: {
        thread_id,
        checkpoint_id: 'cp-1',
        upsert,
        writes: [{ task_id: 't', idx: 0, channel: 'c', type: 'json', blob: base64(text) }],
      },
    })
  await Promise.all(THREADS.map((thread) => write(thread, 'first', false)))
  await Promise.all(THREADS.map((thread, index) => write(thread, 'second', at(index, 2))))
  const stored = await Promise.all(
    THREADS.map(async (thread_id) => {
      const tuple = await client.getCheckpointTuple({ body: { thread_id } })
      return tuple?.pending_writes.map(({ blob }) => blob)
    }),
  )
  expect(stored).toEqual(THREADS.map((_, index) => [base64(at(index, 2) ? 'second' : 'first')]))
})

test('a head that many writers expect at once is moved by one of them, and the others hear of it', async () => {
  const { put, step } = await checkpointAccount(app)
  await step('head', 1)
  const outcomes = await Promise.all(
    THREADS.map((thread) => codeOf(put('head', `cp-2-${thread}`, { expected_head_checkpoint_id: 'cp-1' }))),
  )
  expect(outcomes.toSorted()).toEqual([...Array(THREADS.length - 1).fill('head_moved'), 'ok'])
})
