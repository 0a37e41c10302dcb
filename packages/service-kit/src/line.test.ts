import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ApiError } from './api-error.ts'
import { createLine } from './line.ts'

const settled = async () => {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve()
}

test('whoever is in line begins in order, never more than there are places for, or is told that it never did', async () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.constant('come' as const) },
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
      const outcomes: Promise<'done' | 'failed' | 'refused'>[] = []
      const come = () => {
        const number = outcomes.length
        const work = () => {
          began.push(number)
          return new Promise<void>((resolve, reject) => working.push({ resolve, reject }))
        }
        outcomes.push(
          line.inTurn(work).then(
            () => 'done',
            (error: unknown) => (error instanceof ApiError ? 'refused' : 'failed'),
          ),
        )
      }
      for (const step of steps) {
        const most = typeof step === 'number' ? Math.max(step, working.length) : Infinity
        if (step === 'come') come()
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
      expect(began).toEqual([...ended.keys()].filter((number) => ended[number] !== 'refused'))
      expect(refusals).toBe(ended.length - began.length)
    }),
  )
})
