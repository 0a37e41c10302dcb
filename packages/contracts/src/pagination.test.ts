import { z } from '@hono/zod-openapi'
import { expect, test } from 'vitest'
import { listOf, listQuery } from './pagination.ts'

const query = listQuery(['created_at', 'name'], { kind: z.string().optional() })
const page = listOf('Things', z.object({ id: z.string() }))

test('what is not said of a page is the newest hundred', () => {
  expect(query.parse({})).toEqual({ limit: 100, sort_by: 'created_at', sort_order: 'desc' })
})

test.each([
  { limit: '1' },
  { limit: '10000' },
  { starting_after: 'a', kind: 'k', sort_order: 'desc' },
  { ending_before: 'a', sort_by: 'name', sort_order: 'asc' },
])('%o is a page', (asked) => {
  expect(query.parse(asked)).toMatchObject('limit' in asked ? { limit: Number(asked.limit) } : asked)
})

test.each([
  [{ limit: '0' }, 'limit'],
  [{ limit: '10001' }, 'limit'],
  [{ sort_by: 'password' }, 'sort_by'],
  [{ sort_order: 'up' }, 'sort_order'],
])('%o is none', (asked, path) => {
  expect(query.safeParse(asked).error?.issues).toMatchObject([{ path: [path] }])
})

test('two cursors exclude each other', () => {
  const { error } = query.safeParse({ starting_after: 'a', ending_before: 'b' })
  const message = 'starting_after and ending_before exclude each other'
  expect(error?.issues).toMatchObject([{ path: ['ending_before'], message }])
})

test('a page has items, says whether more follow and how many match', () => {
  const whole = { items: [{ id: 'a' }], has_more: false, total: 1, limit: 1, object: 'list' }
  expect(page.parse(whole)).toEqual(whole)
  expect(page.parse({ items: [], has_more: true, total: 0 })).toEqual({ items: [], has_more: true, total: 0 })
  for (const wrong of [
    { total: -1 },
    { total: 0.5 },
    { limit: 0 },
    { object: 'page' },
    { items: [1] },
    { has_more: 1 },
  ])
    expect(page.safeParse({ ...whole, ...wrong }).success).toBe(false)
})
