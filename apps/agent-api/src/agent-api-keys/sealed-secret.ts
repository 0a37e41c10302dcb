import { secretProblem } from '@keelson/identity'
import { open, seal, type AccountKeys } from '@keelson/secrets'

/** Which version of which key's secret; it opens nowhere else. */
export type SecretPlace = { account_id: string; key_id: string; version: number }

const contextOf = ({ account_id, key_id, version }: SecretPlace) => ({
  purpose: 'agent_api_key.secret',
  account_id,
  record_id: key_id,
  record_version: version,
})

/** @throws ApiError `unavailable`, or `credential_integrity_error` when the account's own key is damaged */
export const sealSecret = async (keys: AccountKeys, place: SecretPlace, secret: Buffer): Promise<Buffer> => {
  try {
    return await seal(keys, contextOf(place), secret)
  } catch (error) {
    throw secretProblem(error)
  }
}

/** @throws IntegrityError, KeyProviderUnavailable */
export const openSecret = (keys: AccountKeys, place: SecretPlace, sealed: Buffer): Promise<Buffer> =>
  open(keys, contextOf(place), sealed)
