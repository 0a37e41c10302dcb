import { connect } from '@keelson/database'
import { assertMigrated, SchemaMismatch } from '@keelson/database/migrate'
import { ApiError, ConfigError, loadConfig, setting } from '@keelson/service-kit'
import { identityStore, type IdentityStore } from './identity-store.ts'
import { UsageError } from './key-options.ts'
import { KEYS_COMMANDS } from './keys-commands.ts'
import { openAccountKeys } from './open-account-keys.ts'
import { systemSecret } from './system-secret.ts'

const USAGE = `usage: pnpm keys
  accounts create NAME
  accounts list
  issue  --account ACCOUNT --identity NAME [--type user|service_account] [--scopes spans:*,models:read]
         [--expires 90d|2027-01-31] [--name TEXT] [--out FILE]
  list   --account ACCOUNT
  revoke KEY_ID --account ACCOUNT
  roll   KEY_ID --account ACCOUNT [--grace 24h] [--out FILE]
  scan   PATH...

ACCOUNT is an id or a name. An identity that does not exist is made. Without --scopes a key may do everything.
`

const EXIT = { done: 0, failed: 1, usage: 64, config: 78 } as const

const SETTINGS = {
  DATABASE_URL: setting.url({ description: 'where the accounts are', protocols: ['postgres', 'postgresql'] }),
}

const openStore = async (stack: AsyncDisposableStack): Promise<IdentityStore> => {
  const { DATABASE_URL } = loadConfig(process.env, SETTINGS)
  const db = stack.use(connect({ url: DATABASE_URL, applicationName: 'keys', maxConnections: 2 }))
  await assertMigrated(db)
  const accountKeys = await openAccountKeys(db, process.env)
  return identityStore(db, await systemSecret(accountKeys, 'api-key.pepper'))
}

const exitCodeOf = (error: unknown): number => {
  const { code, message } = error as { code?: unknown; message: string }
  process.stderr.write(`${message}\n`)
  if (error instanceof UsageError || String(code).startsWith('ERR_PARSE_ARGS')) {
    process.stderr.write(USAGE)
    return EXIT.usage
  }
  if (error instanceof ConfigError || error instanceof SchemaMismatch) return EXIT.config
  if (!(error instanceof ApiError) && typeof code !== 'string') process.stderr.write(`${(error as Error).stack}\n`)
  return EXIT.failed
}

const main = async ([name = '', ...args]: string[]): Promise<number> => {
  const command = KEYS_COMMANDS[name]
  if (!command) {
    process.stderr.write(USAGE)
    return name === 'help' ? EXIT.done : EXIT.usage
  }
  await using stack = new AsyncDisposableStack()
  const terminal = {
    print: (line: string) => void process.stdout.write(`${line}\n`),
    note: (line: string) => void process.stderr.write(`${line}\n`),
  }
  try {
    return await command(args, () => openStore(stack), terminal)
  } catch (error) {
    return exitCodeOf(error)
  }
}

process.exitCode = await main(process.argv.slice(2))
