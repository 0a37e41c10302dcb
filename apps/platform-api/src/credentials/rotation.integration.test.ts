import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { assertKeyProvider } from '@keelson/identity'
import { generateKey, keyProvider, seal } from '@keelson/secrets'
import { typeId } from '@keelson/service-kit'
import { eventually } from '@keelson/testing'
import { afterAll, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'

const COMMAND = new URL('../../../../packages/identity/src/keyring-command.ts', import.meta.url).pathname
const BYTEA = 17

const [former, next] = [generateKey(), generateKey()]
const app = await testApp({}, { keys: `${former},${next}`, keyTtlMs: 100 })
afterAll(() => app[Symbol.asyncDispose]())
const { db, accountKeys } = app
// As services do when they start.
await assertKeyProvider(db, await keyProvider({ provider: 'environment', keys: `${former},${next}` }))

type Client = Awaited<ReturnType<typeof app.client>>
type Kept = { client: Client; id: string }

/** `pnpm keyring` as an operator runs it: the new key-encryption key is current, the former one readable. */
const keyring = (...args: string[]) => {
  const env = { PATH: process.env['PATH'], DATABASE_URL: app.url, KEY_ENCRYPTION_KEYS: `${next},${former}` }
  return spawn(process.execPath, [COMMAND, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
}

const keyringOutput = async (...args: string[]): Promise<{ code: number; output: string }> => {
  const child = keyring(...args)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
  const [code] = (await once(child, 'close')) as [number]
  return { code, output }
}

const fill = async (client: Client, count: number): Promise<Kept[]> => {
  const { account_id, identity_id } = client
  const ids = Array.from({ length: count }, () => typeId('cred'))
  const context = { purpose: 'credential.payload', account_id, record_version: 1 }
  const sealed = await Promise.all(
    ids.map((id) => seal(accountKeys, { ...context, record_id: id }, Buffer.from(`of ${id}`))),
  )
  await db.sql`
    insert into platform.credentials (account_id, id, name, description, type, credential_metadata,
      created_by_identity_type, created_by_user_id)
    select ${account_id}, id, id, '', 'key', '{}', 'user', ${identity_id} from unnest(${ids}::text[]) as id`
  await db.sql`
    insert into platform.credential_versions (account_id, credential_id, version, sealed)
    select ${account_id}, id, 1, sealed from unnest(${ids}::text[], ${db.sql.array(sealed, BYTEA)}::bytea[]) as made (id, sealed)`
  return ids.map((id) => ({ client, id }))
}

/** Reads, writes and makes credentials until told to stop; a read that is not what was written is a failure. */
const traffic = (kept: readonly Kept[], stop: AbortSignal) => {
  const counts = { reads: 0, failures: [] as unknown[] }
  const pick = () => kept[Math.floor(Math.random() * kept.length)]!
  const reveal = async ({ client, id }: Kept) => {
    const { result } = await client.getCredentialSecret({ params: { credential_id: id } })
    counts.reads += 1
    if (result !== `of ${id}`) throw new Error(`${id} tells ${result}`)
  }
  const once = async () => {
    const { client, id } = pick()
    await reveal({ client, id })
    await client.updateCredential({ params: { credential_id: id }, body: { payload: `of ${id}` } })
    const body = { name: typeId('cred'), payload: 'new', type: 'key' as const }
    await client.createCredential({ body })
    for (let index = 0; index < 8; index += 1) await reveal(pick())
  }
  const run = async () => {
    while (!stop.aborted) await once().catch((error: unknown) => void counts.failures.push(error))
  }
  return { counts, done: Promise.all([run(), run(), run()]) }
}

const behind = async () => {
  const [row] = await db.sql<{ count: number }[]>`
    select count(*)::int as count from platform.credential_versions v
    join identity.account_keys k on k.account_id = v.account_id and k.state = 'active'
    where ('x' || encode(substring(v.sealed from 5 for 4), 'hex'))::bit(32)::bigint < k.version`
  return row!.count
}

test('10,000 records change keys under traffic with a kill -9 in the middle: no failed read, nothing left behind', async () => {
  const kept = (await Promise.all([1, 2, 3, 4].map(async () => fill(await app.client(), 2_500)))).flat()
  const stop = new AbortController()
  const { counts, done } = traffic(kept, stop.signal)

  expect(await keyringOutput('rewrap')).toMatchObject({ code: 0, output: expect.stringContaining('wrapped anew') })
  expect((await keyringOutput('rotate', '--older-than', '0')).output).toContain('4 accounts have a new key')
  const before = await behind()
  expect(before).toBeGreaterThanOrEqual(10_000)

  const killed = keyring('reencrypt')
  const reachMiddle = async () => expect(await behind()).toBeLessThan(before - 1_000)
  await eventually(reachMiddle, { deadlineMs: 60_000, intervalMs: 5 })
  killed.kill('SIGKILL')
  await once(killed, 'close')
  expect(await behind()).toBeGreaterThan(0)

  await delay(200)
  expect(await keyringOutput('reencrypt')).toMatchObject({ code: 0, output: expect.stringContaining('0 damaged') })
  expect(await behind()).toBe(0)
  expect((await keyringOutput('retire', '--settled', '0')).output).toContain('4 account keys destroyed')
  expect(await keyringOutput('verify')).toMatchObject({ code: 0, output: expect.stringContaining(' 0 problems') })
  stop.abort()
  await done
  expect(counts.failures).toEqual([])
  expect(counts.reads).toBeGreaterThan(100)

  const { output } = await keyringOutput('status')
  expect(output).toMatch(/credential_versions: \d{5,} records, 0 behind/)
  expect(output).toContain('account keys destroyed: 4')
  expect(output.match(/wraps/g)).toHaveLength(1)
}, 180_000)

test('every step of the keys left audit rows', async () => {
  const rows = await db.sql`
    select distinct action, key_id from identity.audit_log
    where target_type in ('account_key', 'key_encryption_key') order by action`
  expect(rows.map(({ action, key_id }) => `${action} by ${key_id}`)).toEqual([
    'account_key.create by service',
    'account_key.destroy by operator',
    'account_key.reencrypt by operator',
    'account_key.rewrap by operator',
    'account_key.rotate by operator',
    'key_encryption_key.forget by operator',
  ])
})

test('a second run of each finds nothing to do', async () => {
  expect((await keyringOutput('rewrap')).output).toBe('0 account keys wrapped anew\n')
  expect((await keyringOutput('rotate')).output).toBe('0 accounts have a new key\n')
  expect((await keyringOutput('reencrypt')).output).toBe('0 records sealed anew, 0 damaged\n')
  expect((await keyringOutput('retire')).output).toBe('0 account keys destroyed\n')
})

test('an account is named by id or name, and one that does not exist is not said to be in order', async () => {
  const { account_id } = await app.client()
  const [{ name } = { name: '' }] = await db.sql<{ name: string }[]>`
    select name from identity.accounts where account_id = ${account_id}`
  for (const account of [account_id, name])
    expect(await keyringOutput('verify', '--account', account)).toMatchObject({ code: 0 })
  const unknown = { code: 64, output: expect.stringContaining('there is no account nobody') }
  expect(await keyringOutput('verify', '--account', 'nobody')).toMatchObject(unknown)
  expect(await keyringOutput('rotate', '--account', 'nobody')).toMatchObject(unknown)
})

test('a damaged record is named by verify and by reencrypt, and the others are sealed anew', async () => {
  const client = await app.client()
  const [damaged] = await fill(client, 3)
  await db.sql`update platform.credential_versions set sealed = set_byte(sealed, 59, 255 - get_byte(sealed, 59)) where credential_id = ${damaged!.id}`
  await keyringOutput('rotate', '--account', client.account_id, '--older-than', '0')
  const { code, output } = await keyringOutput('reencrypt')
  expect(code).toBe(1)
  expect(output).toContain(damaged!.id)
  expect(output).toContain('2 records sealed anew, 1 damaged')
  expect(await keyringOutput('verify')).toMatchObject({ code: 1, output: expect.stringContaining(damaged!.id) })
  expect((await keyringOutput('retire', '--settled', '0')).output).toContain('1 records are sealed under it: reencrypt')
})
