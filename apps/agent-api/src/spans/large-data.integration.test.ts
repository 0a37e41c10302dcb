import { afterAll, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'
import { SEGMENT } from './data-log.ts'

const app = await testApp()
afterAll(() => app[Symbol.asyncDispose]())

const LARGE = 'x'.repeat(2 * 1_048_576)

test('large data is written back folded when patches are many or large, not for each', async () => {
  const client = await app.client()
  const { id } = await client.createSpan({
    body: { name: 'step', trace_id: 't', start_time: '2026-01-01', data: { large: LARGE } },
  })
  const patch = async (data: Record<string, unknown>) => {
    const changed = await client.updateSpan({ params: { span_id: id }, body: { data } })
    const [row] = await app.db.sql<{ data: string }[]>`
      select data from agent.spans where account_id = ${client.account_id} and id = ${id}`
    return { data: changed.data, isFolded: !row?.data.includes(SEGMENT) }
  }
  const many: boolean[] = []
  for (let count = 1; count <= 8; count += 1) many.push((await patch({ count })).isFolded)
  expect(many).toEqual([...Array<boolean>(7).fill(false), true])
  expect(await patch({ large: LARGE })).toEqual({ data: { large: LARGE, count: 8 }, isFolded: true })
})
