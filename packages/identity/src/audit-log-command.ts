import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import type { Database } from '@keelson/database'
import { AUDIT_COLUMNS, type AuditRow } from './audit-chain.ts'
import { sealAuditLog, type AuditCheckpoint } from './audit-sealer.ts'
import { verifyAuditLog } from './audit-verify.ts'
import { runCommand, type CommandContext } from './command.ts'
import { findAccount } from './find-account.ts'
import { UsageError } from './key-options.ts'
import { systemSecret } from './system-secret.ts'

const USAGE = `usage: pnpm audit-log
  verify [--checkpoints FILE]         finds rows that were edited, deleted, inserted, reordered or cut off
  export [--account ACCOUNT] [--since T]
                                      every row as a line of JSON
  seal                                seals what has no seal yet; prints the checkpoints
`

const macKey = async ({ accountKeys }: CommandContext): Promise<Buffer> =>
  systemSecret(await accountKeys(), 'audit.mac')

const checkpointOf = (line: string, place: string): AuditCheckpoint => {
  try {
    return JSON.parse(line) as AuditCheckpoint
  } catch {
    throw new UsageError(`${place} is no whole checkpoint`)
  }
}

/** Reads checkpoint lines, also out of a log that has other lines between them. */
const readCheckpoints = async (path: string): Promise<AuditCheckpoint[]> => {
  const lines = (await readFile(path, 'utf8')).split('\n')
  return lines.flatMap((line, index) => (line.includes('"seal"') ? [checkpointOf(line, `${path}:${index + 1}`)] : []))
}

const verify = async (context: CommandContext, args: string[]): Promise<number> => {
  const { values } = parseArgs({ args, options: { checkpoints: { type: 'string' } } })
  const checkpoints = values.checkpoints === undefined ? [] : await readCheckpoints(values.checkpoints)
  const { rows, seals, unsealed, problems } = await verifyAuditLog(context.db, await macKey(context), checkpoints)
  for (const problem of problems) context.print(problem)
  context.note(`${rows} rows under ${seals} seals, ${unsealed} not sealed yet, ${problems.length} problems`)
  if (checkpoints.length === 0) context.note('without --checkpoints an end that was cut off does not show')
  return problems.length === 0 ? 0 : 1
}

const rowsOf = ({ sql }: Database, account: string | undefined, since: string | undefined) => sql<AuditRow[]>`
  select ${sql(AUDIT_COLUMNS)} from identity.audit_log
  where true ${account === undefined ? sql`` : sql`and account_id = ${account}`}
    ${since === undefined ? sql`` : sql`and at >= ${since}`}
  order by seq`

const exportRows = async ({ db, print }: CommandContext, args: string[]): Promise<number> => {
  const { values } = parseArgs({ args, options: { account: { type: 'string' }, since: { type: 'string' } } })
  const account = await findAccount(db, values.account)
  for await (const batch of rowsOf(db, account, values.since).cursor(1000)) {
    for (const row of batch) print(JSON.stringify(row))
  }
  return 0
}

const seal = async (context: CommandContext): Promise<number> => {
  const checkpoint = async (made: AuditCheckpoint) => context.print(JSON.stringify(made))
  const sealed = await sealAuditLog({ db: context.db, key: await macKey(context), checkpoint })
  context.note(`${sealed} rows sealed`)
  return 0
}

process.exitCode = await runCommand('audit-log', USAGE, async (context, [verb, ...args]) => {
  if (verb === 'verify') return verify(context, args)
  if (verb === 'export') return exportRows(context, args)
  if (verb === 'seal') return seal(context)
  throw new UsageError('verify, export or seal')
})
