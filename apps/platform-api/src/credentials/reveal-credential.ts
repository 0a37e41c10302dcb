import { secretProblem, type CredentialReveals, type RevealCredential } from '@keelson/identity'
import { notFound } from '@keelson/service-kit'

/**
 * Tells the secret of a credential.
 *
 * @throws ApiError `not_found`, `credential_integrity_error`, `unavailable`
 */
export const revealCredential = async (reveals: CredentialReveals, request: RevealCredential): Promise<string> => {
  const payload = await reveals.reveal(request).catch((error: unknown) => {
    throw secretProblem(error)
  })
  return payload ?? notFound('credential')
}
