import type { ErrorCode } from '@keelson/contracts'
import { sqlStateOf } from '@keelson/database'
import { REFUSED } from '@keelson/database/agent'
import { ApiError } from '@keelson/service-kit'

const DETAILS: Partial<Record<string, string>> = {
  version_conflict: 'A channel was put before with this version and other content; nothing was put',
  head_moved: 'The latest checkpoint is not the expected one, or sorts after the new one; nothing was put',
  thread_deleted: 'What this builds on was deleted; nothing was put',
  tuple_too_large:
    'What is stored of it weighs more than the service may answer; an operator can raise MAX_TUPLE_BYTES',
  not_found: 'There is no such thread',
  thread_exists: 'The target thread has checkpoints; nothing was copied',
}

export const refusal = (code: ErrorCode): ApiError => new ApiError(code, DETAILS[code])

/** Makes an ApiError of what `agent.refuse` raised in a statement. */
export const orRefusal = async <Result>(statement: PromiseLike<Result>): Promise<Result> => {
  try {
    return await statement
  } catch (error) {
    if (sqlStateOf(error) !== REFUSED) throw error
    throw refusal((error as Error).message as ErrorCode)
  }
}
