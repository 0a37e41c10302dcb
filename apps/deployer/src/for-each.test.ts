import { expect, test } from 'vitest'
import { forEach } from './for-each.ts'

test('forEach works on so many at a time, on all of them, and tells the first failure at the end', async () => {
  const done: number[] = []
  let now = 0
  let most = 0
  const work = async (item: number) => {
    most = Math.max(most, (now += 1))
    await Promise.resolve()
    now -= 1
    if (item === 2) throw new Error('two')
    done.push(item)
  }
  await expect(forEach([1, 2, 3, 4, 5, 6], 2, work)).rejects.toThrow('two')
  expect(most).toBe(2)
  expect(new Set(done)).toEqual(new Set([1, 3, 4, 5, 6]))
})
