import { open } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { IDENTITY_TYPES, type IdentityType } from '@keelson/database/identity'
import type { IdentityStore } from './identity-store.ts'
import { parseDuration, parseExpiry, parseScopes, UsageError } from './key-options.ts'
import { scanForKeys } from './key-scan.ts'
import type { IssuedKey } from './key-store.ts'

export type Terminal = {
  /** What the command was asked for. */
  print: (line: string) => void
  /** What people should know beside. */
  note: (line: string) => void
}

/** Runs a command and tells the exit code. `store` is opened on demand, since a scan needs no database. */
export type Command = (args: string[], store: () => Promise<IdentityStore>, terminal: Terminal) => Promise<number>

const required = <Value>(value: Value | undefined, what: string): Value => {
  if (value === undefined || value === '') throw new UsageError(`${what} is missing`)
  return value
}

const accountOf = async (store: IdentityStore, text: string): Promise<string> => {
  const found = (await store.listAccounts()).find(({ account_id, name }) => text === account_id || text === name)
  if (!found) throw new UsageError(`there is no account ${text}`)
  return found.account_id
}

const identityOf = async (
  store: IdentityStore,
  account_id: string,
  wanted: string,
  type: IdentityType,
): Promise<string> => {
  const found = (await store.listIdentities(account_id)).find(({ id, name }) => wanted === id || wanted === name)
  return (found ?? (await store.createIdentity({ account_id, type, name: wanted }))).id
}

const typeOf = (text: string): IdentityType => {
  const type = IDENTITY_TYPES.find((known) => known === text)
  return required(type, `--type ${IDENTITY_TYPES.join(' or ')}`)
}

/** The file is made before the key is, so that no key is issued that then cannot be handed over. */
const handOver = async (
  out: string | undefined,
  { print, note }: Terminal,
  issue: () => Promise<IssuedKey>,
): Promise<void> => {
  if (out === undefined) {
    const { id, token } = await issue()
    print(token)
    note(`${id}: this is the only time the key is shown`)
    return
  }
  await using file = await open(out, 'wx', 0o600)
  const { id, token } = await issue()
  await file.writeFile(`${token}\n`)
  print(`${id} written to ${out}`)
}

const table = (rows: readonly (readonly string[])[], print: Terminal['print']): void => {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  for (const row of rows)
    print(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
}

const accounts: Command = async ([verb, name, ...rest], store, { print }) => {
  if (verb === 'create' && rest.length === 0) {
    const wanted = required(name, 'NAME')
    print((await (await store()).createAccount(wanted)).account_id)
    return 0
  }
  if (verb !== 'list' || name !== undefined) throw new UsageError('accounts takes create NAME, or list')
  const found = await (await store()).listAccounts()
  table([['account', 'name', 'created'], ...found.map((row) => [row.account_id, row.name, row.created_at])], print)
  return 0
}

const issue: Command = async (args, store, terminal) => {
  const text = { type: 'string' } as const
  const options = {
    account: text,
    identity: text,
    type: { ...text, default: 'user' },
    name: text,
    scopes: text,
    expires: text,
    out: text,
  }
  const { values } = parseArgs({ args, options })
  const scopes = values.scopes === undefined ? undefined : parseScopes(values.scopes)
  const expires_at = values.expires === undefined ? undefined : parseExpiry(values.expires, Date.now())
  const [account, identity] = [required(values.account, '--account'), required(values.identity, '--identity')]
  const type = typeOf(values.type)
  const opened = await store()
  const account_id = await accountOf(opened, account)
  await handOver(values.out, terminal, async () => {
    const identity_id = await identityOf(opened, account_id, identity, type)
    return opened.issueKey({ account_id, identity_id, name: values.name, scopes, expires_at })
  })
  return 0
}

const list: Command = async (args, store, { print }) => {
  const { values } = parseArgs({ args, options: { account: { type: 'string' } } })
  const account = required(values.account, '--account')
  const opened = await store()
  const keys = await opened.listKeys(await accountOf(opened, account))
  const now = new Date().toISOString()
  const state = (key: (typeof keys)[number]) => {
    if (key.revoked_at !== null) return `revoked ${key.revoked_at}`
    if (key.expires_at === null) return 'live'
    const successor = key.replaced_by === null ? '' : `, replaced by ${key.replaced_by}`
    return `${key.expires_at > now ? 'until' : 'expired'} ${key.expires_at}${successor}`
  }
  const rows = keys.map((key) => {
    const { id, hint, identity_id, name, scopes, created_at, last_used_at } = key
    return [
      id,
      hint,
      identity_id,
      name || '-',
      scopes?.join(',') ?? 'all',
      created_at,
      last_used_at ?? 'never',
      state(key),
    ]
  })
  table([['key', 'starts with', 'identity', 'name', 'scopes', 'created', 'last used', 'state'], ...rows], print)
  return 0
}

const revoke: Command = async (args, store, { print }) => {
  const { values, positionals } = parseArgs({ args, options: { account: { type: 'string' } }, allowPositionals: true })
  const [id, account] = [required(positionals[0], 'KEY_ID'), required(values.account, '--account')]
  const opened = await store()
  await opened.revokeKey({ account_id: await accountOf(opened, account), id })
  print(`${id} is revoked`)
  return 0
}

const roll: Command = async (args, store, terminal) => {
  const text = { type: 'string' } as const
  const options = { account: text, grace: { ...text, default: '24h' }, out: text }
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  const [id, account] = [required(positionals[0], 'KEY_ID'), required(values.account, '--account')]
  const graceMs = parseDuration(values.grace)
  const opened = await store()
  const account_id = await accountOf(opened, account)
  await handOver(values.out, terminal, () => opened.rollKey({ account_id, id }, { graceMs }))
  return 0
}

const scan: Command = async (args, _store, { print, note }) => {
  if (args.length === 0) throw new UsageError('PATH is missing')
  let found = 0
  for await (const { path, line, hint } of scanForKeys(args)) {
    found += 1
    print(`${path}:${line}: ${hint}…`)
  }
  note(found === 0 ? 'no key found' : `${found} found: revoke them`)
  return found === 0 ? 0 : 1
}

export const KEYS_COMMANDS: Readonly<Record<string, Command>> = { accounts, issue, list, revoke, roll, scan }
