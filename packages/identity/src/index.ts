export { accountKeyStore } from './account-key-store.ts'
export type { Account, Identity } from './account-store.ts'
export {
  auditInsert,
  auditWithin,
  recordAudit,
  type AuditedAct,
  type AuditedBy,
  type AuditedTarget,
} from './audit-entry.ts'
export { auditSealer, sealAuditLog, type AuditCheckpoint, type AuditSealerOptions } from './audit-sealer.ts'
export { authenticator, type Authenticator, type AuthenticatorOptions, type Refusal } from './authenticator.ts'
export { FailedAttempts, type FailedAttemptsOptions } from './failed-attempts.ts'
export { idempotencyStore } from './idempotency-store.ts'
export { identityStore, type IdentityStore } from './identity-store.ts'
export { generateKey, hintOf, isKey, KEY_PATTERN, KEY_PREFIXES, type KeyKind } from './key-format.ts'
export { assertKeyProvider } from './key-provider-check.ts'
export type { ApiKey, IssuedKey, KeyRequest } from './key-store.ts'
export {
  credentialReveals,
  openPayload,
  payloadContext,
  type CredentialReveals,
  type PayloadPlace,
} from './reveal-credential.ts'
export type { RevealCredential } from './audited-reads.ts'
export { secretProblem } from './secret-problem.ts'
export { bootstrapLocalAccount, type LocalAccount } from './local-account.ts'
export type { KeyHeader } from './presented-key.ts'
export { openAccountKeys } from './open-account-keys.ts'
export { assertBoundRole } from './role-check.ts'
export { systemSecret, type SystemPurpose } from './system-secret.ts'
