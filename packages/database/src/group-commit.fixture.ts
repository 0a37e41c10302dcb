import { onTestFinished, vi } from 'vitest'
import type { GroupCommitOptions } from './group-commit.ts'

export type Item = { key: string; poison?: boolean }

export const settle = () => new Promise((resolve) => setImmediate(resolve))

/** Until the end of the test, timers fire when it says so. */
export const holdTime = () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
}

/** A store whose statements finish when the test says so, and with the test at the latest. */
export const manualStore = () => {
  const statements: { items: Item[]; finish: () => void; fail: (error: unknown) => void }[] = []
  let isOver = false
  onTestFinished(() => {
    isOver = true
    for (const { finish } of statements) finish()
  })
  const write = (items: Item[]) => {
    const { promise, resolve, reject } = Promise.withResolvers<string[]>()
    const results = items.map(({ key }) => `committed ${key}`)
    statements.push({ items, finish: () => resolve(results), fail: reject })
    if (isOver) resolve(results)
    return promise
  }
  return { statements, write }
}

export const options = (overrides: Partial<GroupCommitOptions<Item, string>>): GroupCommitOptions<Item, string> => ({
  write: async (items) => items.map(({ key }) => `committed ${key}`),
  keyOf: ({ key }) => key,
  isTransient: () => false,
  lanes: 1,
  maxItems: 100,
  maxBytes: 1_000_000,
  maxQueuedBytes: 1_000_000,
  stallMs: 60_000,
  ...overrides,
})
