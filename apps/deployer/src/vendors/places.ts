import type { Step } from './step.ts'
import { VendorError } from './vendor-error.ts'

/** A limit on how many requests go to one vendor at a time, first come first served. */
export const places = (count: number) => {
  const waiting = new Set<() => void>()
  let free = count

  const release = () => {
    const [next] = waiting
    if (next === undefined) free += 1
    else next()
  }

  const turn = (timeoutMs: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const giveUp = () => {
        waiting.delete(take)
        reject(new VendorError('vendor_unavailable', { detail: 'too many requests of our own', retryable: true }))
      }
      const timer = setTimeout(giveUp, timeoutMs)
      const take = () => {
        clearTimeout(timer)
        waiting.delete(take)
        resolve()
      }
      waiting.add(take)
    })

  /** Holds a place while `work` runs. @throws VendorError when the step ends before there is one */
  return async <Result>(step: Step, work: () => Promise<Result>): Promise<Result> => {
    if (free > 0) free -= 1
    else await turn(step.remainingMs())
    try {
      return await work()
    } finally {
      release()
    }
  }
}
