import type { SealedColumn, Transaction } from '@keelson/database'
import type { SealContext } from '@keelson/secrets'

/** A sealed record wherever it is kept. */
export type SealedRow = { record_id: string; record_version: number; sealed: Buffer }

export type Place = Pick<SealedRow, 'record_id' | 'record_version'>

const BYTEA = 17
const BEFORE_ALL: Place = { record_id: '', record_version: -1 }

export const contextOf = ({ purpose }: SealedColumn, account_id: string, row: Place): SealContext => ({
  purpose,
  account_id,
  record_id: row.record_id,
  record_version: row.record_version,
})

const own = (tx: Transaction, { column }: SealedColumn) =>
  tx`account_id = current_setting('keelson.account_id') and ${tx(column)} is not null`

/** The version of the account key a record was sealed with, from bytes 5 to 8 of its header. */
const keyVersion = (tx: Transaction, { column }: SealedColumn) =>
  tx`('x' || encode(substring(${tx(column)} from 5 for 4), 'hex'))::bit(32)::bigint`

const select = (tx: Transaction, at: SealedColumn, last: Place) => tx`
  select ${tx(at.record_id)} as record_id, ${tx(at.record_version)} as record_version, ${tx(at.column)} as sealed
  from ${tx(at.table)}
  where ${own(tx, at)} and (${tx(at.record_id)}, ${tx(at.record_version)}) > (${last.record_id}, ${last.record_version})`

const order = (tx: Transaction, at: SealedColumn) => tx`order by ${tx(at.record_id)}, ${tx(at.record_version)}`

/** Records of the account the transaction is bound to, in the order of their keys. @param last the one before the first */
export const nextRows = async (tx: Transaction, at: SealedColumn, last: Place = BEFORE_ALL, most = 200) =>
  tx<SealedRow[]>`${select(tx, at, last)} ${order(tx, at)} limit ${most}`

/** Like {@link nextRows}, only records sealed under a key older than this one, and locks them; not those others locked. */
export const lockOldRows = async (
  tx: Transaction,
  at: SealedColumn,
  version: number,
  last: Place = BEFORE_ALL,
  most = 200,
) =>
  tx<SealedRow[]>`
    ${select(tx, at, last)} and ${keyVersion(tx, at)} < ${version} ${order(tx, at)} limit ${most} for update skip locked`

/** Puts newly sealed bytes in the places of the old. */
export const replaceRows = async (tx: Transaction, at: SealedColumn, rows: readonly SealedRow[]): Promise<void> => {
  const ids = rows.map(({ record_id }) => record_id)
  const versions = rows.map(({ record_version }) => record_version)
  const sealed = tx.array(
    rows.map((row) => row.sealed),
    BYTEA,
  )
  await tx`
    update ${tx(at.table)} as target set ${tx(at.column)} = made.sealed
    from unnest(${ids}::text[], ${versions}::int[], ${sealed}::bytea[]) as made (record_id, record_version, sealed)
    where account_id = current_setting('keelson.account_id')
      and ${tx(at.record_id)} = made.record_id and ${tx(at.record_version)} = made.record_version`
}

/** How many records each key version of the bound account has sealed. */
export const countByKeyVersion = async (tx: Transaction, at: SealedColumn) =>
  tx<{ version: number; count: number }[]>`
    select ${keyVersion(tx, at)} as version, count(*)::int as count from ${tx(at.table)}
    where ${own(tx, at)} group by 1 order by 1`
