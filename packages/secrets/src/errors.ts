/** Why a sealed record or a wrapped key was refused: for logs and audit, not for callers of a service. */
export type IntegrityFailure =
  | 'format'
  | 'commitment'
  | 'tag'
  | 'wrapped_key'
  | 'account_key_missing'
  | 'account_key_destroyed'

/** What was read is not what was written here: changed, cut, moved to another place, or without its key. Carries no bytes. */
export class IntegrityError extends Error {
  override readonly name = 'IntegrityError'
  readonly reason: IntegrityFailure

  constructor(reason: IntegrityFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

/** The key provider did not answer, or answered that it will not serve now. Trying again later can help. */
export class KeyProviderUnavailable extends Error {
  override readonly name = 'KeyProviderUnavailable'
  readonly kek_id: string
  readonly retryAfterSeconds = 5

  constructor(kek_id: string, why: string) {
    super(`key provider of ${kek_id}: ${why}`)
    this.kek_id = kek_id
  }
}

/** A key was wrapped under a key-encryption key that is not configured here. Names key ids, never keys. */
export class UnknownKeyEncryptionKey extends Error {
  override readonly name = 'UnknownKeyEncryptionKey'
  readonly wanted: string
  readonly configured: readonly string[]

  constructor(wanted: string, configured: readonly string[]) {
    super(`wanted key-encryption key ${wanted}; configured: ${configured.join(', ') || 'none'}`)
    this.wanted = wanted
    this.configured = configured
  }
}

/** The settings of a key provider, or the key file they name, cannot be used. Names settings and paths, never values. */
export class KeyConfigurationError extends Error {
  override readonly name = 'KeyConfigurationError'
}
