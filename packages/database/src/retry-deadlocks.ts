import { sqlStateOf } from './errors.ts'

const ATTEMPTS = 3
const DEADLOCK_DETECTED = '40P01'

/** Statements of different kinds, or of two services, may lock the same rows in a circle; one of them is told to try again. */
export const retryingDeadlocks = async <Result>(statement: () => Promise<Result>): Promise<Result> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await statement()
    } catch (error) {
      if (attempt === ATTEMPTS || sqlStateOf(error) !== DEADLOCK_DETECTED) throw error
    }
  }
}
