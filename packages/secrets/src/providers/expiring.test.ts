import { expect, test } from 'vitest'
import { renewed } from './expiring.ts'

test('a value is renewed a minute before it expires', async () => {
  let clock = 0
  let made = 0
  const { current } = renewed(
    async () => ({ value: ++made, lifetimeMs: 600_000 }),
    () => clock,
  )
  const seen: number[] = []
  for (clock of [0, 539_999, 540_000, 1_000_000, 1_080_000]) seen.push(await current())
  expect(seen).toEqual([1, 1, 2, 2, 3])
})
