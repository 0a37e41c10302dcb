import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ApiError } from './api-error.ts'
import { createLine } from './line.ts'

const settled = async () => {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve()
}

test('whoever is in line begins in the order of its account, never more than there are places for, or is told that it never did', async () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom('a' as const, 'b' as const, 'c' as const) },
    { weight: 3, arbitrary: fc.constant('finish' as const) },
    { weight: 1, arbitrary: fc.constant('fail' as const) },
    { weight: 1, arbitrary: fc.nat(8) },
  )
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.array(step, { maxLength: 60 }), async (places, steps) => {
      let refusals = 0
      const line = createLine(
        () => places,
        () => (refusals += 1),
      )
      const working: { resolve: () => void; reject: (error: Error) => void }[] = []
      const began: number[] = []
      const accounts: string[] = []
      const outcomes: Promise<'done' | 'failed' | 'refused'>[] = []
      const come = (account_id: string) => {
        const number = accounts.push(account_id) - 1
        const work = () => {
          began.push(number)
          return new Promise<void>((resolve, reject) => working.push({ resolve, reject }))
        }
        outcomes.push(
          line.inTurn(account_id, work).then(
            () => 'done',
            (error: unknown) => (error instanceof ApiError ? 'refused' : 'failed'),
          ),
        )
      }
      for (const step of steps) {
        const most = typeof step === 'number' ? Math.max(step, working.length) : Infinity
        if (step === 'a' || step === 'b' || step === 'c') come(step)
        else if (step === 'finish') working.shift()?.resolve()
        else if (step === 'fail') working.shift()?.reject(new Error('failed'))
        else line.cut(step)
        await settled()
        expect(working.length).toBeLessThanOrEqual(places)
        expect(line.length).toBeLessThanOrEqual(most)
      }
      while (working.length > 0) {
        working.shift()?.resolve()
        await settled()
      }
      const ended = await Promise.all(outcomes)
      expect(line.length).toBe(0)
      for (const account_id of ['a', 'b', 'c']) {
        const ofAccount = (number: number) => accounts[number] === account_id
        const notRefused = [...ended.keys()].filter((number) => ended[number] !== 'refused')
        expect(began.filter(ofAccount)).toEqual(notRefused.filter(ofAccount))
      }
      expect(refusals).toBe(ended.length - began.length)
    }),
  )
})

/** A line with one place, which is taken, and those behind it as `a1`, `a2`, `b1`: the first letter is the account. */
const lineOf = async (names: readonly string[]) => {
  const line = createLine(
    () => 1,
    () => {},
  )
  const began: string[] = []
  const first = Promise.withResolvers<void>()
  void line.inTurn('first', () => first.promise)
  const works = names.map((name) => line.inTurn(name.slice(0, 1), async () => void began.push(name)))
  const outcomes = Promise.allSettled(works)
  const end = async () => {
    first.resolve()
    await outcomes
    return began
  }
  return { line, end }
}

test('accounts take turns, however many of one have come before', async () => {
  const { end } = await lineOf(['a1', 'a2', 'a3', 'b1', 'a4', 'c1', 'b2'])
  expect(await end()).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4'])
})

test('whoever has most who wait is cut first, and of it who came last', async () => {
  const { line, end } = await lineOf(['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'])
  line.cut(5)
  expect(await end()).toEqual(['a1', 'b1', 'c1', 'b2'])
})

test('an account is owed a place as long as it has less than its share of the line', async () => {
  const { line, end } = await lineOf(['a1', 'a2', 'a3', 'b1'])
  expect([line.isOwed('a', 9), line.isOwed('b', 9), line.isOwed('new', 9), line.isOwed('new', 0)]).toEqual([
    false,
    true,
    true,
    false,
  ])
  await end()
})
