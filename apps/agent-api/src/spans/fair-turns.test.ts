import { expect, test } from 'vitest'
import { fairTurns } from './fair-turns.ts'

/** Work that ends when it is told to. */
const pieces = (places: number) => {
  const inTurn = fairTurns(places)
  const begun: string[] = []
  const running: PromiseWithResolvers<void>[] = []
  const begin = (account_id: string, name: string) =>
    inTurn(account_id, () => {
      begun.push(name)
      running.push(Promise.withResolvers<void>())
      return running.at(-1)!.promise
    })
  return { begun, begin, running }
}

test('no more are worked on than there are places, and accounts take turns whoever came first', async () => {
  const { begun, begin, running } = pieces(2)
  const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((name) => begin(name[0]!, name))
  expect(begun).toEqual(['a1', 'a2'])
  for (let ended = 0; ended < all.length; ended += 1) {
    running[ended]!.resolve()
    await new Promise((resolve) => setImmediate(resolve))
    expect(begun.length - ended - 1).toBeLessThanOrEqual(2)
  }
  await Promise.all(all)
  expect(begun).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2'])
})

test('work that fails gives its place to the next', async () => {
  const inTurn = fairTurns(1)
  const failed = inTurn('a', () => Promise.reject(new Error('failed')))
  const next = inTurn('b', () => Promise.resolve('done'))
  await expect(failed).rejects.toThrow('failed')
  expect(await next).toBe('done')
})

test('work whose caller has gone by its turn is not begun, and its place goes to the next', async () => {
  const inTurn = fairTurns(1)
  const [gone, first] = [new AbortController(), Promise.withResolvers<void>()]
  const begun: string[] = []
  const begin = (name: string, signal?: AbortSignal) =>
    inTurn('a', () => Promise.resolve(begun.push(name)).then(() => first.promise), signal)
  const all = [begin('first'), begin('gone', gone.signal), begin('next')]
  gone.abort()
  first.resolve()
  const outcomes = await Promise.allSettled(all)
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(begun).toEqual(['first', 'next'])
})
