import { expect, test } from 'vitest'
import { pauseMs } from './schedule.ts'

test('pauses grow from seconds to hours, and after the last one it is over', () => {
  const pauses = [1, 2, 3, 4, 5, 6, 7, 8].map((failures) => pauseMs(failures, () => 0.5))
  expect(pauses).toEqual([5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 36_000_000, null])
})

test('what failed together is not tried together', () => {
  expect([pauseMs(1, () => 0), pauseMs(1, () => 0.999_99)]).toEqual([4_500, 5_500])
})
