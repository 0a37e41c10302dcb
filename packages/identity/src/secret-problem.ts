import { IntegrityError, KeyProviderUnavailable } from '@keelson/secrets'
import { ApiError } from '@keelson/service-kit'

/** What went wrong with keys or sealed bytes, as an answer that says nothing of either; anything else as it is. */
export const secretProblem = (error: unknown): unknown => {
  if (error instanceof IntegrityError) {
    const detail = 'A stored secret was changed, moved or cut; it is not told in part'
    return new ApiError('credential_integrity_error', detail, { cause: error })
  }
  if (error instanceof KeyProviderUnavailable) {
    const { retryAfterSeconds } = error
    return new ApiError('unavailable', 'The key provider does not answer', { retryAfterSeconds, cause: error })
  }
  return error
}
