export {
  accountKeys,
  type AccountKey,
  type AccountKeys,
  type AccountKeysOptions,
  type AccountKeyStore,
} from './account-keys.ts'
export { needsReencryption, SEALED_OVERHEAD, sealedWith, type SealedWith } from './envelope.ts'
export {
  IntegrityError,
  KeyConfigurationError,
  KeyProviderUnavailable,
  UnknownKeyEncryptionKey,
  type IntegrityFailure,
} from './errors.ts'
export { type ConfiguredKeyProvider, type KeyProvider } from './key-provider.ts'
export { createKeyFile } from './providers/key-file.ts'
export { generateKey } from './providers/local-keys.ts'
export { keyProvider } from './providers/key-provider-from-settings.ts'
export { keyProviderSettings, type KeyProviderConfig } from './providers/settings.ts'
export { open, seal, type SealContext } from './sealed.ts'
export { deriveSystemSecret, SYSTEM_ACCOUNT } from './system-secret.ts'
export { rewrap, type WrappedKey } from './wrapped-key.ts'
