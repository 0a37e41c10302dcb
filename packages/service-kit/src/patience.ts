import { ApiError } from './api-error.ts'
import type { RequestFacts } from './request-facts.ts'

const RETRY_AFTER_SECONDS = 5

const takesTooLong = (): ApiError =>
  new ApiError('unavailable', 'This takes too long to wait for; it may still be done', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })

/**
 * Waits for the work of a request no longer than its caller should: a dependency that is frozen neither fails nor
 * answers. The work goes on, since it may have had its effect, and the request counts as in flight until it has ended.
 *
 * @throws ApiError `unavailable` after `patienceMs`
 */
export const withPatience = <T>(patienceMs: number, facts: RequestFacts, work: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      facts.unfinished = work
      reject(takesTooLong())
    }, patienceMs)
    const settle = <Outcome>(end: (outcome: Outcome) => void, outcome: Outcome): void => {
      clearTimeout(timer)
      end(outcome)
    }
    work.then(
      (result) => settle(resolve, result),
      (error: unknown) => settle(reject, error),
    )
  })
