import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKeyFile } from '@keelson/secrets'
import { testDatabase } from '@keelson/testing'
import { afterAll, expect, test } from 'vitest'
import { authenticator } from './authenticator.ts'
import { generateKey, isKey } from './key-format.ts'
import { openAccountKeys } from './open-account-keys.ts'
import { systemSecret } from './system-secret.ts'

const database = await testDatabase()
const directory = await mkdtemp(join(tmpdir(), 'keelson-keys-'))
const KEY_FILE = join(directory, 'keys')
const { kek_id } = await createKeyFile(KEY_FILE)
afterAll(async () => {
  await database[Symbol.asyncDispose]()
  await rm(directory, { recursive: true, force: true })
})

type Outcome = { code: number; stdout: string; stderr: string }

const run = (args: string, env: Record<string, string> = {}): Promise<Outcome> =>
  new Promise((resolve) => {
    const command = [join(import.meta.dirname, 'keys-command.ts'), ...args.split(' ')]
    const options = { env: { PATH: process.env['PATH'], DATABASE_URL: database.url, KEY_FILE, ...env }, cwd: directory }
    execFile(process.execPath, command, options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    )
  })

const output = async (args: string): Promise<string> => {
  const { code, stdout, stderr } = await run(args)
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
  return stdout.trim()
}

const authenticate = async (token: string) => {
  const pepper = await systemSecret(await openAccountKeys(database.db, { KEY_FILE }), 'api-key.pepper')
  await using service = authenticator({ db: database.db, pepper, header: 'x-api-key' })
  try {
    return await service.authenticate(new Headers({ 'x-api-key': token }))
  } catch (error) {
    return error
  }
}

test(
  'a key is issued for an account and opens a service until it is rolled and revoked',
  { timeout: 60_000 },
  async () => {
    const account_id = await output('accounts create acme')
    expect(await output('accounts list')).toMatch(new RegExp(`${account_id} +acme +20`))
    const issued = await run(
      'issue --account acme --identity ci --type service_account --scopes spans:*,models:read --expires 90d --name robot',
    )
    const token = issued.stdout.trim()
    expect(isKey(token, 'service_account')).toBe(true)
    expect(issued.stderr).toMatch(/^key_\w{26}: this is the only time the key is shown\n$/)
    expect(await authenticate(token)).toMatchObject({
      account_id,
      identity_type: 'service_account',
      scopes: new Set(['spans:read', 'spans:write', 'models:read']),
    })

    const listed = await output(`list --account ${account_id}`)
    expect(listed).not.toContain(token)
    expect(listed).toContain(token.slice(0, 10))
    const id = /key_\w{26}/.exec(listed)![0]

    const out = join(directory, 'rolled')
    expect(await output(`roll ${id} --account acme --grace 0 --out ${out}`)).toMatch(/^key_\w{26} written to /)
    expect((await stat(out)).mode & 0o777).toBe(0o600)
    const successor = (await readFile(out, 'utf8')).trim()
    expect(await authenticate(token)).toMatchObject({ code: 'unauthenticated' })
    expect(await authenticate(successor)).toMatchObject({ account_id })

    const successorId = /key_\w{26}/.exec(await output('list --account acme'))![0]
    expect(await output(`revoke ${successorId} --account acme`)).toBe(`${successorId} is revoked`)
    expect(await authenticate(successor)).toMatchObject({ code: 'unauthenticated' })
    expect(await run(`revoke ${successorId} --account acme`)).toMatchObject({
      code: 1,
      stderr: 'There is no such key\n',
    })
  },
)

test('no key is issued that cannot be handed over: an existing file is left alone', async () => {
  await output('accounts create careful')
  const out = join(directory, 'exists')
  await writeFile(out, 'mine')
  expect(await run(`issue --account careful --identity ci --out ${out}`)).toMatchObject({ code: 1 })
  expect(await readFile(out, 'utf8')).toBe('mine')
  expect((await output('list --account careful')).split('\n')).toHaveLength(1)
})

test('a wrong call is explained', async () => {
  for (const call of ['unknown', 'issue --colour red', 'list']) {
    expect(await run(call)).toMatchObject({ code: 64, stdout: '', stderr: expect.stringContaining('usage: pnpm keys') })
  }
})

test('without its settings, with another key or on a database that was not migrated it refuses and says what it wants', async () => {
  expect(await run('accounts list', { DATABASE_URL: '' })).toMatchObject({
    code: 78,
    stderr: expect.stringContaining('DATABASE_URL is not set'),
  })
  expect(await run('accounts list', { KEY_FILE: '' })).toMatchObject({
    code: 78,
    stderr: expect.stringContaining('KEY_FILE'),
  })
  await output('accounts list')
  const other = join(directory, 'other keys')
  await createKeyFile(other)
  expect(await run('accounts list', { KEY_FILE: other })).toMatchObject({
    code: 78,
    stderr: expect.stringContaining(kek_id),
  })
  const unmigrated = Object.assign(new URL(database.url), { pathname: '/postgres' }).href
  expect(await run('accounts list', { DATABASE_URL: unmigrated })).toMatchObject({
    code: 78,
    stderr: expect.stringContaining('pnpm db:migrate'),
  })
})

test('scan finds leaked keys by file and line, in any folder and across read boundaries, and needs no database', async () => {
  const tree = join(directory, 'tree')
  await mkdir(join(tree, 'deep', 'node_modules'), { recursive: true })
  const keys = [generateKey('user'), generateKey('service_account'), generateKey('agent')]
  await writeFile(join(tree, 'deep', 'config.env'), `A=1\nKEY="${keys[0]}"\n`)
  await writeFile(join(tree, 'big.log'), `${'x'.repeat(65_500)}\n${keys[1]}\n${'y\n'.repeat(100_000)}${keys[2]}`)
  await writeFile(join(tree, 'near.txt'), `${keys[0]!.slice(0, -1)}! x${keys[0]} kluser_${'a'.repeat(49)}`)
  await writeFile(join(tree, 'deep', 'node_modules', 'skipped'), keys[0]!)
  const { code, stdout, stderr } = await run(`scan ${tree}`, { DATABASE_URL: '', KEY_FILE: '' })
  const hint = (key: string) => key.slice(0, key.indexOf('_') + 5)
  expect(stdout.trim().split('\n').toSorted()).toEqual(
    [
      `${join(tree, 'big.log')}:2: ${hint(keys[1]!)}…`,
      `${join(tree, 'big.log')}:100003: ${hint(keys[2]!)}…`,
      `${join(tree, 'deep', 'config.env')}:2: ${hint(keys[0]!)}…`,
    ].toSorted(),
  )
  expect({ code, stderr }).toEqual({ code: 1, stderr: '3 found: revoke them\n' })
  expect(await run(`scan ${join(tree, 'near.txt')}`)).toMatchObject({ code: 0, stdout: '', stderr: 'no key found\n' })
})
