import { IntegrityError, KeyProviderUnavailable, open, seal, type AccountKeys } from '@keelson/secrets'
import { ApiError } from '@keelson/service-kit'

/** Which version of which key's secret; it opens nowhere else. */
export type SecretPlace = { account_id: string; key_id: string; version: number }

const contextOf = ({ account_id, key_id, version }: SecretPlace) => ({
  purpose: 'agent_api_key.secret',
  account_id,
  record_id: key_id,
  record_version: version,
})

/** What went wrong with keys or sealed bytes, as an answer that says nothing of either. */
export const answerOfSecrets = (error: unknown): unknown => {
  if (error instanceof IntegrityError) {
    return new ApiError('credential_integrity_error', 'A stored secret was changed, moved or cut', { cause: error })
  }
  if (error instanceof KeyProviderUnavailable) {
    const { retryAfterSeconds } = error
    return new ApiError('unavailable', 'The key provider does not answer', { retryAfterSeconds, cause: error })
  }
  return error
}

/** @throws ApiError `unavailable`, or `credential_integrity_error` when the account's own key is damaged */
export const sealSecret = async (keys: AccountKeys, place: SecretPlace, secret: Buffer): Promise<Buffer> => {
  try {
    return await seal(keys, contextOf(place), secret)
  } catch (error) {
    throw answerOfSecrets(error)
  }
}

/** @throws IntegrityError, KeyProviderUnavailable */
export const openSecret = (keys: AccountKeys, place: SecretPlace, sealed: Buffer): Promise<Buffer> =>
  open(keys, contextOf(place), sealed)
