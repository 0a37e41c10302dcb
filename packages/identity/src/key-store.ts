import { withAccount, type Database, type Transaction } from '@keelson/database'
import type { IdentityType } from '@keelson/database/identity'
import { ApiError, notFound, typeId } from '@keelson/service-kit'
import { auditInsert, auditWithin, operatorOf, type AuditedBy } from './audit-entry.ts'
import type { KeyDigest } from './key-digest.ts'
import { generateKey, hintOf, KEY_PREFIXES, type KeyKind } from './key-format.ts'

export type ApiKey = {
  account_id: string
  id: string
  identity_id: string
  hint: string
  name: string
  scopes: string[] | null
  created_at: string
  expires_at: string | null
  revoked_at: string | null
  last_used_at: string | null
  replaced_by: string | null
}

/** `token` is the key itself: shown now and never again. */
export type IssuedKey = { id: string; token: string }

export type KeyRequest = {
  account_id: string
  identity_id: string
  /** Left out, the key is of the identity's own kind. */
  kind?: KeyKind | undefined
  name?: string | undefined
  /** Left out, the key may do everything. */
  scopes?: readonly string[] | undefined
  /** Left out, the key never expires. */
  expires_at?: string | undefined
}

type KeyName = { account_id: string; id: string }

const done = (target_id: string) => ({ target_id, target_version: null, outcome: 'done' as const })

const issue = async (tx: Transaction, digest: KeyDigest, request: KeyRequest, by: AuditedBy): Promise<IssuedKey> => {
  const { account_id, identity_id, name = '' } = request
  const scopes = request.scopes ? [...request.scopes] : null
  const [row] = await tx<{ type: IdentityType; expires_at: string | null }[]>`
    select type, ${request.expires_at ?? null}::timestamptz as expires_at
    from identity.identities where account_id = ${account_id} and id = ${identity_id}`
  const { type, expires_at } = row ?? notFound('identity')
  const token = generateKey(request.kind ?? type)
  const grant = {
    account_id,
    id: typeId('key'),
    identity_id,
    identity_type: type,
    hash: digest.hash(token),
    scopes,
    expires_at,
  }
  await tx`
    insert into identity.api_keys (account_id, id, identity_id, hash, hint, name, scopes, expires_at, row_mac)
    values (${account_id}, ${grant.id}, ${identity_id}, ${grant.hash}, ${hintOf(token)}, ${name}, ${scopes}, ${expires_at},
      ${digest.rowMac(grant)})`
  await auditWithin(tx, { ...by, action: 'api_key.issue' }, done(grant.id))
  return { id: grant.id, token }
}

const revoke = async (tx: Transaction, { account_id, id }: KeyName, by: AuditedBy): Promise<void> => {
  const { count } = await tx`
    update identity.api_keys set revoked_at = now(), row_mac = null
    where account_id = ${account_id} and id = ${id} and revoked_at is null`
  if (count === 0) notFound('key')
  await auditWithin(tx, { ...by, action: 'api_key.revoke' }, done(id))
}

type LiveKey = {
  identity_id: string
  identity_type: IdentityType
  hash: Buffer
  hint: string
  name: string
  scopes: string[] | null
  replaced_by: string | null
  /** When the old key ends: after the grace period, or when it would have anyway. */
  ends_at: string
  /** The new key lives as long as the old one was issued for. */
  successor_expires_at: string | null
}

const lockLive = async (tx: Transaction, { account_id, id }: KeyName, graceMs: number): Promise<LiveKey> => {
  const [key] = await tx<LiveKey[]>`
    select k.identity_id, i.type as identity_type, k.hash, k.hint, k.name, k.scopes, k.replaced_by,
      least(k.expires_at, now() + ${graceMs} * interval '1 millisecond') as ends_at,
      now() + (k.expires_at - k.created_at) as successor_expires_at
    from identity.api_keys k
    join identity.identities i on i.account_id = k.account_id and i.id = k.identity_id
    where k.account_id = ${account_id} and k.id = ${id} and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > now())
    for update of k`
  return key ?? notFound('key')
}

const roll = async (tx: Transaction, digest: KeyDigest, key: KeyName, graceMs: number): Promise<IssuedKey> => {
  const by = operatorOf(key.account_id)
  const { successor_expires_at, ends_at, replaced_by, name, hint, ...old } = await lockLive(tx, key, graceMs)
  if (replaced_by !== null) throw new ApiError('invalid_request', `The key was rolled already, to ${replaced_by}`)
  const { account_id, id } = key
  const { identity_id, scopes } = old
  const request = {
    account_id,
    identity_id,
    kind: hint.startsWith(KEY_PREFIXES.agent) ? ('agent' as const) : undefined,
    name,
    scopes: scopes ?? undefined,
    expires_at: successor_expires_at ?? undefined,
  }
  const successor = await issue(tx, digest, request, by)
  const row_mac = digest.rowMac({ account_id, id, ...old, expires_at: ends_at })
  await tx`
    update identity.api_keys set replaced_by = ${successor.id}, expires_at = ${ends_at}, row_mac = ${row_mac}
    where account_id = ${account_id} and id = ${id}`
  await auditWithin(tx, { ...by, action: 'api_key.roll' }, done(id))
  if (graceMs === 0) await revoke(tx, key, by)
  return successor
}

type Retirement = { account_id: string; identity_id: string; keep: number; by: AuditedBy }

/** API keys of identities; every statement is bound to the account it names. */
export const keyStore = (db: Pick<Database, 'sql'>, digest: KeyDigest) => ({
  /** @throws ApiError `not_found` when the account has no such identity */
  issueKey: (request: KeyRequest, by = operatorOf(request.account_id)): Promise<IssuedKey> =>
    withAccount(db, request.account_id, (tx) => issue(tx, digest, request, by)),

  /** Newest first; nothing that opens anything or helps to guess. */
  listKeys: (account_id: string): Promise<ApiKey[]> =>
    withAccount(
      db,
      account_id,
      async (tx) => tx<ApiKey[]>`
        select account_id, id, identity_id, hint, name, scopes, created_at, expires_at, revoked_at, last_used_at, replaced_by
        from identity.api_keys where account_id = ${account_id} order by id desc`,
    ),

  /** Every replica refuses the key within a second. @throws ApiError `not_found` when there is no such live key */
  revokeKey: (key: KeyName): Promise<void> =>
    withAccount(db, key.account_id, (tx) => revoke(tx, key, operatorOf(key.account_id))),

  /** Revokes the live keys of an identity but the `keep` newest. */
  retireKeys: ({ account_id, identity_id, keep, by }: Retirement) =>
    withAccount(db, account_id, async (tx) => {
      const act = { ...by, action: 'api_key.revoke' }
      const target = tx`(select id as target_id, null::integer as target_version, 'done' as outcome from revoked)`
      await tx`
        with revoked as (
        update identity.api_keys set revoked_at = now(), row_mac = null
        where account_id = ${account_id} and id in (
          select id from identity.api_keys
          where account_id = ${account_id} and identity_id = ${identity_id} and revoked_at is null
          order by id desc offset ${keep})
        returning id)
        ${auditInsert(tx, act, target)}`
    }),

  /**
   * Issues a key that may do the same, and ends this one after `graceMs`; at once when that is 0.
   *
   * @throws ApiError `not_found` when there is no such live key, `invalid_request` when it was rolled already
   */
  rollKey: (key: KeyName, { graceMs }: { graceMs: number }): Promise<IssuedKey> =>
    withAccount(db, key.account_id, (tx) => roll(tx, digest, key, graceMs)),
})
