import { ProblemError } from '@keelson/contracts/client'
import { KeyProviderUnavailable, seal, type AccountKeys } from '@keelson/secrets'
import { afterAll, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'

const app = await testApp()
afterAll(() => app[Symbol.asyncDispose]())
const { db } = app
const client = await app.client()

let count = 0
const create = (payload = 's3cret', owner = client) =>
  owner.createCredential({ body: { name: `credential ${++count}`, payload, type: 'key' } })

/** Any place: what is sealed for it stands for a payload that nobody gets to open. */
const SOMEWHERE = { purpose: 'test', account_id: client.account_id, record_id: 'any', record_version: 1 }

const reveal = (credential_id: string, owner = client) => owner.getCredentialSecret({ params: { credential_id } })

const codeOf = async (call: Promise<unknown>) => {
  const error = await call.then(
    () => null,
    (reason: unknown) => reason,
  )
  return error instanceof ProblemError ? error.problem.code : error
}

const audited = (account_id = client.account_id, after = 0) => db.sql`
  select action, target_type, target_id, target_version, outcome, key_id, identity_id, identity_type, request_id
  from identity.audit_log where account_id = ${account_id} and seq > ${after} and target_type = 'credential' order by seq`

const lastSeq = async () => {
  const [row] = await db.sql<{ seq: number }[]>`select coalesce(max(seq), 0)::int8 as seq from identity.audit_log`
  return row!.seq
}

test('every mutation and reveal leaves one row with actor, target, version and request id', async () => {
  const after = await lastSeq()
  const headers = { 'x-request-id': 'the-request' }
  const { id } = await client.createCredential({ body: { name: 'audited', payload: 'x', type: 'key' }, headers })
  const params = { credential_id: id }
  await client.getCredentialSecret({ params, headers })
  await client.getCredentialSecretByName({ params: { credential_name: 'audited' }, headers })
  await client.updateCredential({ params, body: { payload: 'y' }, headers })
  await client.updateCredential({ params, body: { description: 'z' }, headers })
  await client.deleteCredential({ params, headers })
  const rows = await audited(client.account_id, after)
  expect(rows.map((row) => [row['action'], row['target_version'], row['outcome']])).toEqual([
    ['credential.create', 1, 'done'],
    ['credential.reveal', 1, 'granted'],
    ['credential.reveal', 1, 'granted'],
    ['credential.update', 2, 'done'],
    ['credential.update', 2, 'done'],
    ['credential.delete', 2, 'done'],
  ])
  const { key_id, identity_id } = client
  const same = {
    target_type: 'credential',
    target_id: id,
    key_id,
    identity_id,
    identity_type: 'user',
    request_id: 'the-request',
  }
  for (const row of rows) expect(row).toMatchObject(same)
})

test('a reveal that is refused or finds nothing leaves its row too, with no text of the caller in it', async () => {
  const { id } = await create()
  const after = await lastSeq()
  await codeOf(reveal('cred_01kaf8zq4te3vbr6k2v9d8m5wn'))
  await codeOf(reveal('pasted-by-mistake'))
  await codeOf(client.getCredentialSecretByName({ params: { credential_name: 'pasted-by-mistake' } }))
  const rows = await audited(client.account_id, after)
  expect(rows.map((row) => [row['target_id'], row['outcome']])).toEqual([
    ['cred_01kaf8zq4te3vbr6k2v9d8m5wn', 'not_found'],
    [null, 'not_found'],
    [null, 'not_found'],
  ])
  const reader = await app.client({ scopes: ['credentials:read', 'credentials:write'] })
  expect(await codeOf(reveal(id, reader))).toBe('missing_scope')
  expect(await codeOf(reader.getCredentialSecretByName({ params: { credential_name: 'any' } }))).toBe('missing_scope')
  expect(await audited(reader.account_id)).toMatchObject([
    { action: 'credential.reveal', target_id: id, outcome: 'missing_scope', key_id: reader.key_id },
    { action: 'credential.reveal', target_id: null, outcome: 'missing_scope' },
  ])
})

test.each([
  ['a name with a NUL', 'name/%00'],
  ['a name with a line break', 'name/a%0Ab'],
  ['a name of 10 kB', `name/${'x'.repeat(10_240)}`],
  ['a name that is no UTF-8', 'name/%FF'],
  ['an id with a NUL', '%00'],
  ['an id of 10 kB', 'x'.repeat(10_240)],
])('%s, which nothing can have, leaves the row of its refusal, with and without the scope', async (_what, place) => {
  const reader = await app.client({ scopes: ['credentials:read'] })
  for (const { account_id, headers, key_id } of [client, reader]) {
    const after = await lastSeq()
    const request = new Request(`http://x/v5/credentials/${place}/secret`, { method: 'POST', headers })
    const { status, headers: answered } = await app.service.fetch(request)
    const isUnreadable = place.endsWith('%FF')
    const unnameable = isUnreadable ? [400, 'invalid_request'] : [404, 'not_found']
    const [answer, outcome] = account_id === reader.account_id ? [403, 'missing_scope'] : unnameable
    expect(status).toBe(answer)
    expect(await audited(account_id, after)).toMatchObject([
      {
        action: 'credential.reveal',
        target_id: null,
        outcome,
        key_id,
        request_id: answered.get('x-request-id'),
      },
    ])
  }
})

test('without the audit row there is no secret and no change', async () => {
  const { id } = await create()
  await db.sql`alter table identity.audit_log add constraint full_disk check (false) not valid`
  try {
    expect(await codeOf(reveal(id))).toBe('internal')
    expect(await codeOf(client.deleteCredential({ params: { credential_id: id } }))).toBe('internal')
    expect(await codeOf(create())).toBe('internal')
  } finally {
    await db.sql`alter table identity.audit_log drop constraint full_disk`
  }
  expect(await reveal(id)).toMatchObject({ result: 's3cret' })
})

test('any flipped bit, any cut and any longer record is an integrity problem with an audit row', async () => {
  const { id } = await create('k')
  const [row] = await db.sql<{ sealed: Buffer }[]>`
    select sealed from platform.credential_versions where credential_id = ${id}`
  const sealed = row!.sealed
  const damaged: Buffer[] = Array.from({ length: sealed.length * 8 }, (_, bit) => {
    const copy = Buffer.from(sealed)
    copy[bit >> 3]! ^= 1 << (bit & 7)
    return copy
  })
  damaged.push(
    ...Array.from({ length: sealed.length }, (_, end) => sealed.subarray(0, end)),
    Buffer.concat([sealed, Buffer.of(0)]),
  )
  const after = await lastSeq()
  for (const bytes of damaged) {
    await db.sql`update platform.credential_versions set sealed = ${bytes} where credential_id = ${id}`
    expect(await codeOf(reveal(id))).toBe('credential_integrity_error')
  }
  const outcomes = (await audited(client.account_id, after)).map((entry) => entry['outcome'])
  expect(outcomes.filter((outcome) => outcome === 'integrity_failure').length).toBe(damaged.length)
}, 60_000)

test('a record moved to another credential, account or version never opens', async () => {
  const [one, other] = [await create('one'), await create('other')]
  const stranger = await app.client()
  const theirs = await create('theirs', stranger)
  await client.updateCredential({ params: { credential_id: one.id }, body: { payload: 'newer' } })
  const move = (to: string, from: string, version = 1) => db.sql`
    update platform.credential_versions v set sealed = source.sealed from platform.credential_versions source
    where v.credential_id = ${to} and source.credential_id = ${from} and source.version = ${version}`
  const expectFound = async (id: string, target_version: number, owner = client) => {
    const after = await lastSeq()
    expect(await codeOf(reveal(id, owner))).toBe('credential_integrity_error')
    const [last] = (await audited(owner.account_id, after)).slice(-1)
    expect(last).toMatchObject({
      action: 'credential.reveal',
      target_id: id,
      target_version,
      outcome: 'integrity_failure',
    })
  }
  await move(other.id, one.id)
  await expectFound(other.id, 1)
  await move(theirs.id, one.id)
  await expectFound(theirs.id, 1, stranger)
  await move(one.id, one.id)
  await expectFound(one.id, 2)
  await db.sql`delete from platform.credential_versions where credential_id = ${one.id}`
  await expectFound(one.id, 2)
})

test('a damaged payload is not called JSON unseen, but can be replaced', async () => {
  const { id } = await create('{}')
  await db.sql`update platform.credential_versions set sealed = '\\x00' where credential_id = ${id}`
  const params = { credential_id: id }
  expect(await codeOf(client.updateCredential({ params, body: { type: 'json' } }))).toBe('credential_integrity_error')
  await client.updateCredential({ params, body: { type: 'json', payload: '[]' } })
  expect(await reveal(id)).toMatchObject({ result: '[]' })
})

test('while the key provider is away the answer is 503, nothing is half done, and the audit row says so', async () => {
  const away = () => Promise.reject(new KeyProviderUnavailable('local:away', 'no answer'))
  const accountKeys: AccountKeys = { active: away, version: away, rotate: away, forget: () => {} }
  await using cut = await testApp({ accountKeys })
  const cutClient = await cut.client()
  const body = { name: 'never', payload: 'x', type: 'key' as const }
  expect(await codeOf(cutClient.createCredential({ body }))).toBe('unavailable')
  const [left] = await cut.db.sql`select count(*)::int as count from platform.credentials`
  expect(left).toEqual({ count: 0 })

  const [{ id: credential_id } = { id: '' }] = await cut.db.sql<{ id: string }[]>`
    select platform.create_credential(${cutClient.account_id}, 'cred_01kaf8zq4te3vbr6k2v9d8m5wn', 'made before', '', 'key',
      '{}', ${await seal(app.accountKeys, SOMEWHERE, Buffer.from('x'))}, 'key', 'user', 'user', 'earlier'),
      'cred_01kaf8zq4te3vbr6k2v9d8m5wn' as id`
  expect(await codeOf(reveal(credential_id, cutClient))).toBe('unavailable')
  const rows = await cut.db.sql`
    select outcome, target_id from identity.audit_log
    where account_id = ${cutClient.account_id} and action = 'credential.reveal' order by seq`
  expect([...rows]).toEqual([
    { outcome: 'granted', target_id: credential_id },
    { outcome: 'unavailable', target_id: credential_id },
  ])
})
