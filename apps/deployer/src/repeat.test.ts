import { createLogger } from '@keelson/service-kit'
import { eventually } from '@keelson/testing'
import { expect, test } from 'vitest'
import { forEach, repeat } from './repeat.ts'

const log = createLogger({ service: 'test', level: 'silent' })

test('rounds follow each other, also after one that failed', async () => {
  let rounds = 0
  await using _loop = repeat({
    name: 'test',
    intervalMs: 1,
    log,
    work: async () => {
      rounds += 1
      throw new Error('failed')
    },
  })
  await eventually(() => expect(rounds).toBeGreaterThan(3))
})

test('disposing waits for the round under way and ends the pause', async () => {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  let ended = false
  const loop = repeat({ name: 'test', intervalMs: 60_000, log, work: () => promise.finally(() => (ended = true)) })
  const disposed = loop[Symbol.asyncDispose]()
  resolve(false)
  await disposed
  expect(ended).toBe(true)
})

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
