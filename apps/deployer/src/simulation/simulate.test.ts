import { randomInt } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { ALL_GUARDS, simulate } from './simulate.ts'
import type { Guards } from './ports.ts'

/** Seeds of histories that once went wrong; each keeps its lesson. */
const REGRESSIONS: readonly number[] = [165, 2_257, 2_336, 13_812, 16_001, 1_038_291, 1_042_747]

const firstBroken = async (from: number, histories: number, guards: Guards = ALL_GUARDS) => {
  for (let seed = from; seed < from + histories; seed += 1) {
    const broken = await simulate(seed, guards)
    if (broken !== null) return `seed ${seed}: ${broken}`
  }
  return null
}

describe('histories of kills, freezes, lost doorbells and a hostile vendor', () => {
  test('break no invariant, on seeds that are always the same', async () => {
    expect(await firstBroken(1, 5_000)).toBeNull()
  }, 60_000)

  test('break no invariant, on seeds nobody has seen before', async () => {
    expect(await firstBroken(randomInt(2 ** 31), 5_000)).toBeNull()
  }, 60_000)

  test('that once went wrong go right', async () => {
    for (const seed of REGRESSIONS) expect(await simulate(seed), `seed ${seed}`).toBeNull()
  })

  test('a request sent late, by a worker frozen while it connected, is how a ready model lost its endpoint', async () => {
    const unchecked = { ...ALL_GUARDS, stepEnd: false, lastCheck: false }
    expect(await simulate(13_812, unchecked)).toBe('the model is ready and available while the vendor has null')
    expect(await simulate(2_336, { ...ALL_GUARDS, lastCheck: false })).toContain('ready and available while the vendor')
  })

  test('replay exactly from their seed', async () => {
    const broken = await firstBroken(1, 5_000, { ...ALL_GUARDS, fence: false })
    const seed = Number(/^seed (\d+)/.exec(broken ?? '')?.[1])
    expect(`seed ${seed}: ${await simulate(seed, { ...ALL_GUARDS, fence: false })}`).toBe(broken)
  }, 60_000)
})

describe('negative controls: the simulation notices when there is', () => {
  const controls: [keyof Guards, string][] = [
    ['fence', 'no fencing token'],
    ['settling', 'no waiting for lost requests to settle'],
    ['sweeper', 'no sweeper'],
    ['stamp', 'no generation stamp'],
    ['adoption', 'no adoption of what a lost request created'],
    ['stepEnd', 'no end of a frozen step'],
    ['lastCheck', 'no look at the time in the moment of sending'],
  ]
  test.each(controls)(
    '%s: %s',
    async (guard) => {
      expect(await firstBroken(1, 20_000, { ...ALL_GUARDS, [guard]: false })).not.toBeNull()
    },
    120_000,
  )
})
