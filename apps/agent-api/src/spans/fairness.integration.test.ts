import { testAccount, testDatabase } from '@keelson/testing'
import { expect, test } from 'vitest'
import { spanWriter } from './span-writer.ts'

const FLOOD = 5000

test('an account that floods the service does not hold up the single span of another', async () => {
  await using database = await testDatabase()
  const { db } = database
  const [busy, quiet] = [await testAccount(db), await testAccount(db)]
  const writer = spanWriter(db)
  const create = ({ account_id }: { account_id: string }, id: string) =>
    writer.create({
      account_id,
      id,
      trace_id: 'trace',
      name: 'step',
      start_time: '2026-01-01T10:00:00Z',
      parent_id: null,
      task_id: null,
      end_time: null,
      input: null,
      output: null,
      data: null,
    })
  let flooded = 0
  const flood = Array.from({ length: FLOOD }, async (_, index) => {
    await create(busy, `flood ${index}`)
    flooded += 1
  })
  await create(quiet, 'single')
  expect(flooded).toBeLessThan(FLOOD / 4)
  await Promise.all(flood)
  await writer.drain()
})
