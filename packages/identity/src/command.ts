import { connect, type Database } from '@keelson/database'
import { assertMigrated, SchemaMismatch } from '@keelson/database/migrate'
import {
  keyProvider,
  KeyConfigurationError,
  keyProviderSettings,
  type AccountKeys,
  type ConfiguredKeyProvider,
} from '@keelson/secrets'
import { ConfigError, loadConfig, setting } from '@keelson/service-kit'
import { UsageError } from './key-options.ts'
import { openAccountKeys } from './open-account-keys.ts'

/** What a command works with; keys are opened only when it asks. */
export type CommandContext = {
  db: Database
  /** The account keys, after the check that their key-encryption keys are the right ones. */
  accountKeys: () => Promise<AccountKeys>
  /** The key-encryption keys alone, as the environment has them. */
  provider: () => Promise<ConfiguredKeyProvider>
  /** Aborts on SIGINT and SIGTERM, so that a long run stops between two batches. */
  signal: AbortSignal
  /** What the command was asked for. */
  print: (line: string) => void
  /** What people should know beside. */
  note: (line: string) => void
}

const EXIT = { failed: 1, usage: 64, config: 78 } as const

const SETTINGS = { DATABASE_URL: setting.secret({ description: 'where everything is kept' }) }

const exitCodeOf = (error: unknown, usage: string, note: CommandContext['note']): number => {
  const { code, message } = error as { code?: unknown; message: string }
  note(message)
  if (error instanceof UsageError || String(code).startsWith('ERR_PARSE_ARGS')) {
    note(usage)
    return EXIT.usage
  }
  const isConfiguration = [ConfigError, SchemaMismatch, KeyConfigurationError].some((kind) => error instanceof kind)
  return isConfiguration ? EXIT.config : EXIT.failed
}

const openDatabase = (name: string): Database => {
  const { DATABASE_URL } = loadConfig(process.env, SETTINGS)
  return connect({ url: DATABASE_URL.expose(), applicationName: name, maxConnections: 6, statementTimeoutMs: 600_000 })
}

/** Runs a command of an operator as the owner of the tables. @returns the exit code */
export const runCommand = async (
  name: string,
  usage: string,
  run: (context: CommandContext, args: string[]) => Promise<number>,
): Promise<number> => {
  const print = (line: string) => void process.stdout.write(`${line}\n`)
  const note = (line: string) => void process.stderr.write(`${line}\n`)
  // Whoever reads, `head` for one, may have seen enough.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : EXIT.failed))
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  try {
    await using stack = new AsyncDisposableStack()
    const db = stack.use(openDatabase(name))
    await assertMigrated(db)
    const accountKeys = () => openAccountKeys(db, process.env)
    const provider = async () => keyProvider(keyProviderSettings(process.env))
    const context = { db, accountKeys, provider, signal: stop.signal, print, note }
    return await run(context, process.argv.slice(2))
  } catch (error) {
    return exitCodeOf(error, usage, note)
  }
}
