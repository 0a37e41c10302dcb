import { expect, test } from 'vitest'
import { fairShare } from './fair-share.ts'

/** Starts work for an account that goes on until it is ended. */
const starter = (places: number) => {
  const share = fairShare(places)
  const ends: (() => void)[] = []
  const start = (account: string) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    ends.push(resolve)
    return share.within(account, () => promise)
  }
  const endAll = () => ends.splice(0).forEach((end) => end())
  return { start, endAll }
}

const workedOf = async (started: Promise<boolean>[]) => (await Promise.all(started)).filter(Boolean).length

test('an account alone takes half of the places, and always one', async () => {
  for (const [places, expected] of [
    [32, 16],
    [3, 1],
    [1, 1],
  ] as const) {
    const { start, endAll } = starter(places)
    const started = Array.from({ length: 100 }, () => start('greedy'))
    endAll()
    expect(await workedOf(started)).toBe(expected)
  }
})

test('however many accounts there are, the next one finds a place', async () => {
  const { start, endAll } = starter(32)
  for (let account = 0; account < 31; account += 1) {
    for (let tries = 0; tries < 100; tries += 1) void start(`account ${account}`)
  }
  const modest = start('modest')
  endAll()
  expect(await modest).toBe(true)
})

test('places come back, also from work that fails', async () => {
  const share = fairShare(2)
  await expect(share.within('a', () => Promise.reject(new Error('x')))).rejects.toThrow('x')
  expect(await share.within('a', async () => {})).toBe(true)
})
