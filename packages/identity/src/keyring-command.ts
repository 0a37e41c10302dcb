import { parseArgs } from 'node:util'
import { runCommand, type CommandContext } from './command.ts'
import { findAccount } from './find-account.ts'
import { parseDuration, UsageError } from './key-options.ts'
import type { Keyring } from './keyring.ts'
import { reencryptRecords } from './keyring-reencrypt.ts'
import { retireKeys } from './keyring-retire.ts'
import { rewrapKeys } from './keyring-rewrap.ts'
import { rotateKeys } from './keyring-rotate.ts'
import { keyringStatus } from './keyring-status.ts'
import { verifyKeyring } from './keyring-verify.ts'

const USAGE = `usage: pnpm keyring
  status                                        which keys there are, and what is behind
  rewrap                                        wraps every account key under the current key-encryption key
  rotate [--account ACCOUNT] [--older-than 1h]  gives accounts a new key
  reencrypt                                     seals anew what is sealed under a former account key
  retire [--settled 5h]                         destroys account keys nothing is sealed under any more, and lets go of
                                                key-encryption keys that wrap nothing
  verify [--account ACCOUNT]                    unwraps every key, opens every record

ACCOUNT is an id or a name.

All of them may be stopped at any time and run again, while services serve.
`

const open = async ({ db, provider, accountKeys, signal }: CommandContext): Promise<Keyring> => {
  const keys = await accountKeys()
  return { db, provider: await provider(), accountKeys: keys, signal }
}

type Command = (context: CommandContext, args: string[]) => Promise<number>

const status: Command = async (context) => {
  const { id, kek_ids } = await context.provider()
  const { wrapped, records, states } = await keyringStatus(context)
  context.print(`current key-encryption key: ${id}`)
  for (const [kek_id, count] of Object.entries(wrapped)) {
    context.print(
      `${kek_id} wraps ${count} account keys${kek_ids.includes(kek_id) ? '' : ', and is not configured here'}`,
    )
  }
  for (const [state, count] of Object.entries(states)) context.print(`account keys ${state}: ${count}`)
  for (const [table, { sealed, behind }] of Object.entries(records)) {
    context.print(`${table}: ${sealed} records, ${behind} behind`)
  }
  return 0
}

const rewrap: Command = async (context) => {
  context.print(`${await rewrapKeys(await open(context))} account keys wrapped anew`)
  return 0
}

const rotate: Command = async (context, args) => {
  const options = { account: { type: 'string' }, 'older-than': { type: 'string', default: '1h' } } as const
  const { values } = parseArgs({ args, options })
  const olderThanMs = parseDuration(values['older-than'])
  const account = await findAccount(context.db, values.account)
  context.print(`${await rotateKeys(await open(context), { account, olderThanMs })} accounts have a new key`)
  return 0
}

const reencrypt: Command = async (context) => {
  const { done, damaged } = await reencryptRecords(await open(context))
  for (const problem of damaged) context.print(problem)
  context.print(`${done} records sealed anew, ${damaged.length} damaged`)
  return damaged.length === 0 ? 0 : 1
}

const retire: Command = async (context, args) => {
  const { values } = parseArgs({ args, options: { settled: { type: 'string', default: '5h' } } })
  const { destroyed, forgotten, kept } = await retireKeys(await open(context), parseDuration(values.settled))
  for (const reason of kept) context.print(`kept ${reason}`)
  for (const kek_id of forgotten) context.print(`${kek_id} is no longer needed`)
  context.print(`${destroyed} account keys destroyed`)
  return 0
}

const verify: Command = async (context, args) => {
  const { values } = parseArgs({ args, options: { account: { type: 'string' } } })
  const account = await findAccount(context.db, values.account)
  const { keys, records, problems } = await verifyKeyring(await open(context), account)
  for (const problem of problems) context.print(problem)
  context.print(`${keys} keys and ${records} records checked, ${problems.length} problems`)
  return problems.length === 0 ? 0 : 1
}

const COMMANDS: Readonly<Record<string, Command>> = { status, rewrap, rotate, reencrypt, retire, verify }

process.exitCode = await runCommand('keyring', USAGE, async (context, [name = '', ...args]) => {
  const command = COMMANDS[name]
  if (!command) throw new UsageError(`one of ${Object.keys(COMMANDS).join(', ')}`)
  return command(context, args)
})
