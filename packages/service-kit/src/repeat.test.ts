import { eventually } from '@keelson/testing'
import { expect, test } from 'vitest'
import { createLogger } from './logger.ts'
import { repeat } from './repeat.ts'

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
