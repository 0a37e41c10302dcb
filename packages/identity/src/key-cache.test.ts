import { expect, test } from 'vitest'
import { keyCache } from './key-cache.ts'
import type { KnownKey } from './key-lookup.ts'

const known = (endsAt = Infinity): KnownKey => ({
  principal: { account_id: 'a', identity_id: 'u', identity_type: 'user', key_id: 'k', scopes: null },
  endsAt,
})

/** A cache over a table whose lookups end when the test says so. */
const subject = (options = {}) => {
  const clock = { ms: 0 }
  const table = new Map<string, KnownKey>()
  const pending: (() => void)[] = []
  let held = false
  let lookups = 0
  const cache = keyCache(
    async (hash) => {
      lookups += 1
      const found = table.get(hash) ?? null
      if (held) await new Promise<void>((resolve) => pending.push(resolve))
      return found
    },
    { now: () => clock.ms, ...options },
  )
  return {
    cache,
    table,
    clock,
    lookups: () => lookups,
    hold: () => void (held = true),
    release: () => {
      held = false
      for (const finish of pending.splice(0)) finish()
    },
  }
}

test('a known key is remembered for 30 s while changes are announced, and for 1 s while they are not', async () => {
  for (const [announced, ttlMs] of [
    [true, 30_000],
    [false, 1_000],
  ] as const) {
    const { cache, table, clock } = subject()
    cache.rely(announced)
    table.set('h', known())
    await cache.find('h')
    clock.ms = ttlMs - 1
    expect(cache.peek('h')).not.toBeNull()
    clock.ms = ttlMs
    expect(cache.peek('h')).toBeNull()
  }
})

test('a key that was valid counts as such until it is forgotten or found invalid, however long nobody looked', async () => {
  const { cache, table, clock } = subject()
  expect(cache.remembered('h')).toBeNull()
  table.set('h', known())
  await cache.find('h')
  clock.ms = 60_000
  cache.rely(true)
  expect(cache.peek('h')).toBeNull()
  expect(cache.remembered('h')).not.toBeNull()
  table.delete('h')
  await cache.find('h')
  expect(cache.remembered('h')).toBeNull()
  table.set('other', known())
  await cache.find('other')
  cache.forget('other')
  expect(cache.remembered('other')).toBeNull()
})

test('a key is not remembered past its own expiry', async () => {
  const { cache, table, clock } = subject()
  cache.rely(true)
  table.set('h', known(500))
  await cache.find('h')
  clock.ms = 499
  expect(cache.peek('h')).not.toBeNull()
  clock.ms = 500
  expect(cache.peek('h')).toBeNull()
})

test('a hundred concurrent misses make one lookup', async () => {
  const { cache, table, lookups, hold, release } = subject()
  table.set('h', known())
  hold()
  const found = Array.from({ length: 100 }, () => cache.find('h'))
  release()
  expect((await Promise.all(found)).every((key) => key !== null)).toBe(true)
  expect(lookups()).toBe(1)
})

test('an unknown key is looked up again only after 5 s', async () => {
  const { cache, clock, lookups } = subject()
  expect(await cache.find('h')).toBeNull()
  clock.ms = 4_999
  await cache.find('h')
  expect(lookups()).toBe(1)
  clock.ms = 5_000
  await cache.find('h')
  expect(lookups()).toBe(2)
})

test('a flood of unknown keys evicts no known one', async () => {
  const { cache, table } = subject({ maxKeys: 10 })
  cache.rely(true)
  table.set('h', known())
  await cache.find('h')
  for (let index = 0; index < 1_000; index += 1) await cache.find(`unknown ${index}`)
  expect(cache.peek('h')).not.toBeNull()
})

test.each([
  ['announced', (cache: ReturnType<typeof keyCache>) => cache.forget('h')],
  ['made while announcements were lost', (cache: ReturnType<typeof keyCache>) => cache.rely(false)],
  ['made before announcements were heard', (cache: ReturnType<typeof keyCache>) => cache.rely(true)],
])('a change %s during a lookup keeps its stale result from being remembered', async (_when, change) => {
  const { cache, table, hold, release } = subject()
  cache.rely(true)
  table.set('h', known())
  hold()
  const found = cache.find('h')
  table.delete('h')
  change(cache)
  release()
  await found
  expect(cache.peek('h')).toBeNull()
  expect(await cache.find('h')).toBeNull()
})

test('a key that is announced is looked up at once although it was unknown a moment ago', async () => {
  const { cache, table } = subject()
  expect(await cache.find('h')).toBeNull()
  table.set('h', known())
  cache.forget('h')
  expect(await cache.find('h')).not.toBeNull()
})

test('a lookup that fails is not remembered', async () => {
  let fails = true
  const cache = keyCache(async () => {
    if (fails) throw new Error('away')
    return known()
  })
  await expect(cache.find('h')).rejects.toThrow('away')
  fails = false
  expect(await cache.find('h')).not.toBeNull()
})
