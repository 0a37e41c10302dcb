import { randomBytes } from 'node:crypto'
import { withAccount, type Database } from '@keelson/database'
import { secretProblem } from '@keelson/identity'
import { open, seal, type AccountKeys } from '@keelson/secrets'

export type SigningSecretPlace = { account_id: string; agent_id: string }

const contextOf = ({ account_id, agent_id }: SigningSecretPlace, version: number) => ({
  purpose: 'agent.signing_secret',
  account_id,
  record_id: agent_id,
  record_version: version,
})

export const openSigningSecret = (
  accountKeys: AccountKeys,
  { version, sealed, ...place }: SigningSecretPlace & { version: number; sealed: Buffer },
): Promise<Buffer> => open(accountKeys, contextOf(place, version), sealed)

type Stored = { version: number; sealed: Buffer }

/**
 * What the ingress signs with when it calls an agent, made on the first call and the same ever after.
 *
 * @throws ApiError `unavailable`, `credential_integrity_error`
 */
export const ensureSigningSecret = async (
  { db, accountKeys }: { db: Database; accountKeys: AccountKeys },
  place: SigningSecretPlace,
): Promise<Buffer> => {
  const { account_id, agent_id } = place
  const find = () =>
    withAccount(db, account_id, async (tx) => {
      const [stored] = await tx<Stored[]>`
        select version, sealed from agent.signing_secrets
        where account_id = ${account_id} and agent_id = ${agent_id} order by version desc limit 1`
      return stored
    })
  const make = async () => {
    const sealed = await seal(accountKeys, contextOf(place, 1), randomBytes(32))
    await withAccount(
      db,
      account_id,
      (tx) => tx`
        insert into agent.signing_secrets (account_id, agent_id, version, sealed)
        values (${account_id}, ${agent_id}, 1, ${sealed}) on conflict do nothing`,
    )
    return find()
  }
  try {
    const stored = (await find()) ?? (await make())
    return await openSigningSecret(accountKeys, { ...place, ...stored! })
  } catch (error) {
    throw secretProblem(error)
  }
}
