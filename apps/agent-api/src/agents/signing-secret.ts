import { randomBytes } from 'node:crypto'
import { withAccount, type Database } from '@keelson/database'
import { secretProblem } from '@keelson/identity'
import { open, seal, type AccountKeys } from '@keelson/secrets'
import { notFound } from '@keelson/service-kit'

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

type Found = { version: number; sealed: Buffer | null }

/**
 * What the ingress signs with when it calls an agent, made on the first call and the same until the agent is deleted. An
 * agent that is registered again has the next version, and none before it counts.
 *
 * @throws ApiError `not_found`, `unavailable`, `credential_integrity_error`
 */
export const ensureSigningSecret = async (
  { db, accountKeys }: { db: Database; accountKeys: AccountKeys },
  place: SigningSecretPlace,
): Promise<Buffer> => {
  const { account_id, agent_id } = place
  const find = () =>
    withAccount(db, account_id, async (tx) => {
      const [found] = await tx<Found[]>`
        select a.life as version, s.sealed from agent.agents a
        left join agent.signing_secrets s on s.account_id = a.account_id and s.agent_id = a.id and s.version = a.life
        where a.account_id = ${account_id} and a.id = ${agent_id}`
      return found ?? notFound('agent')
    })
  const make = async (version: number) => {
    const sealed = await seal(accountKeys, contextOf(place, version), randomBytes(32))
    await withAccount(
      db,
      account_id,
      (tx) => tx`
        insert into agent.signing_secrets (account_id, agent_id, version, sealed)
        values (${account_id}, ${agent_id}, ${version}, ${sealed}) on conflict do nothing`,
    )
    return find()
  }
  try {
    const found = await find()
    const { version, sealed } = found.sealed === null ? await make(found.version) : found
    return await openSigningSecret(accountKeys, { ...place, version, sealed: sealed ?? notFound('agent') })
  } catch (error) {
    throw secretProblem(error)
  }
}
