import { expect, test } from 'vitest'
import { KEYS_COMMANDS } from './keys-commands.ts'

const calls = [
  'issue',
  'issue --account acme',
  'issue --identity ci',
  'issue --account acme --identity ci --type robot',
  'issue --account acme --identity ci --scopes nothing',
  'issue --account acme --identity ci --expires yesterday',
  'list',
  'revoke',
  'revoke key_a',
  'roll --account acme',
  'roll key_a --account acme --grace long',
  'scan',
  'accounts',
  'accounts create',
  'accounts list all',
]

test.each(calls)('`keys %s` is refused before a database is opened', async (call) => {
  const [name, ...args] = call.split(' ')
  const opened = () => Promise.reject(new Error('a database was opened'))
  const terminal = { print: () => {}, note: () => {} }
  await expect(KEYS_COMMANDS[name!]!(args, opened, terminal)).rejects.toMatchObject({ name: 'UsageError' })
})
