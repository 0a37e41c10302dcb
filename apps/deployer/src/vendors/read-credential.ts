import { randomUUID } from 'node:crypto'
import type { CredentialReveals } from '@keelson/identity'
import type { ResolveCredential } from './environment.ts'

/** Who reads, in the audit log: nobody's API key, but this worker. */
const DEPLOYER = { key_id: 'deployer', identity_id: 'deployer', identity_type: 'service_account' } as const

/** Reads credentials for vendor calls, audited as every other reveal. */
export const credentialReader =
  (reveals: Pick<CredentialReveals, 'reveal'>): ResolveCredential =>
  (account_id, name) =>
    reveals.reveal({ principal: { account_id, ...DEPLOYER }, requestId: randomUUID(), key: { name } })
