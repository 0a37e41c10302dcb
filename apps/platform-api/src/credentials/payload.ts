import { IntegrityError, KeyProviderUnavailable, open, seal, type AccountKeys } from '@keelson/secrets'
import { ApiError } from '@keelson/service-kit'

/** Which version of which credential a payload is of; it opens nowhere else. */
export type PayloadPlace = { account_id: string; credential_id: string; version: number }

const contextOf = ({ account_id, credential_id, version }: PayloadPlace) => ({
  purpose: 'credential.payload',
  account_id,
  record_id: credential_id,
  record_version: version,
})

/** What went wrong with a key or a sealed payload, as an answer that says nothing of either. */
const answerOf = (error: unknown): unknown => {
  if (error instanceof IntegrityError) {
    const detail = 'The stored payload was changed, moved or cut; it is not told in part'
    return new ApiError('credential_integrity_error', detail, { cause: error })
  }
  if (error instanceof KeyProviderUnavailable) {
    const { retryAfterSeconds } = error
    return new ApiError('unavailable', 'The key provider does not answer', { retryAfterSeconds, cause: error })
  }
  return error
}

/** @throws ApiError `unavailable`, or `credential_integrity_error` when the account's own key is damaged */
export const sealPayload = async (keys: AccountKeys, place: PayloadPlace, payload: string): Promise<Buffer> => {
  try {
    return await seal(keys, contextOf(place), Buffer.from(payload))
  } catch (error) {
    throw answerOf(error)
  }
}

/**
 * @param sealed what is stored; `null` when the version is gone
 * @throws ApiError `credential_integrity_error`, `unavailable`
 */
export const openPayload = async (keys: AccountKeys, place: PayloadPlace, sealed: Buffer | null): Promise<string> => {
  try {
    if (sealed === null) throw new IntegrityError('format', 'the version is missing')
    return (await open(keys, contextOf(place), sealed)).toString()
  } catch (error) {
    throw answerOf(error)
  }
}
