import { payloadContext, secretProblem, type PayloadPlace } from '@keelson/identity'
import { seal, type AccountKeys } from '@keelson/secrets'

/** @throws ApiError `unavailable`, or `credential_integrity_error` when the account's own key is damaged */
export const sealPayload = (keys: AccountKeys, place: PayloadPlace, payload: string): Promise<Buffer> =>
  seal(keys, payloadContext(place), Buffer.from(payload)).catch((error: unknown) => {
    throw secretProblem(error)
  })
