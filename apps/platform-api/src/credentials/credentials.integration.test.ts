import { ProblemError } from '@keelson/contracts/client'
import { afterAll, describe, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'

const app = await testApp()
afterAll(() => app[Symbol.asyncDispose]())
const { db } = app

const client = await app.client()
let count = 0
const request = (fields = {}) => ({ name: `credential ${++count}`, payload: 's3cret', type: 'key' as const, ...fields })
const create = (fields = {}) => client.createCredential({ body: request(fields) })
const secret = async (credential_id: string) => (await client.getCredentialSecret({ params: { credential_id } })).result

const problemOf = async (call: Promise<unknown>) => {
  const error = await call.then(
    () => null,
    (reason: unknown) => reason,
  )
  if (!(error instanceof ProblemError)) throw new Error(`no problem but ${String(error)}`)
  return error.problem
}

const sealedOf = async (id: string) => {
  const rows = await db.sql<{ version: number; sealed: Buffer }[]>`
    select version, sealed from platform.credential_versions where credential_id = ${id} order by version`
  return rows.map(({ version, sealed }) => ({ version, sealed: sealed.toString('hex') }))
}

describe('create', () => {
  test('answers the credential without its secret, unset description and metadata as empty', async () => {
    const body = request()
    const created = await client.createCredential({ body })
    expect(created).toEqual({
      id: expect.stringMatching(/^cred_[0-9a-z]{26}$/),
      name: body.name,
      type: 'key',
      description: '',
      credential_metadata: {},
      created_at: created.updated_at,
      updated_at: expect.stringMatching(/Z$/),
      created_by_identity_type: 'user',
      created_by_user_id: client.identity_id,
      object: 'credential',
    })
    expect(await client.getCredential({ params: { credential_id: created.id } })).toEqual(created)
  })

  test('what is stored does not hold the secret, and no two seals of one secret are alike', async () => {
    const [one, other] = [await create(), await create()]
    const sealed = [...(await sealedOf(one.id)), ...(await sealedOf(other.id))].map((row) => row.sealed)
    expect(new Set(sealed).size).toBe(2)
    for (const text of sealed) expect(Buffer.from(text, 'hex').includes('s3cret')).toBe(false)
  })

  test('metadata comes back as the text it was sent as', async () => {
    const text =
      '{"name":"exact","type":"key","payload":"x","credential_metadata":{"n": 1.0, "big":12345678901234567890}}'
    const { status, text: answer } = await client.raw({ method: 'post', path: '/v5/credentials' }, { text })
    expect(status).toBe(200)
    expect(answer).toContain('"credential_metadata":{"n": 1.0, "big":12345678901234567890}')
  })

  test('a second credential of one name is a conflict in the account, and none in another', async () => {
    const body = request()
    await client.createCredential({ body })
    expect(await problemOf(client.createCredential({ body }))).toMatchObject({ code: 'credential_exists' })
    const other = await app.client()
    expect(await other.createCredential({ body })).toMatchObject({ name: body.name })
  })

  test('a payload of type json must be JSON', async () => {
    expect(await problemOf(create({ type: 'json', payload: '{' }))).toMatchObject({ code: 'invalid_request' })
    const { id } = await create({ type: 'json', payload: '{"a":1}' })
    expect(await secret(id)).toBe('{"a":1}')
  })

  test('payloads of 1 byte to 64 KiB of any text come back as they were', async () => {
    for (const payload of ['x', '\u{1f511}'.repeat(16_384), ' \r\n\t"\\', 'y'.repeat(65_536)]) {
      const { id } = await create({ payload })
      expect(await secret(id)).toBe(payload)
    }
    expect(await problemOf(create({ payload: 'y'.repeat(65_537) }))).toMatchObject({ code: 'invalid_request' })
    expect(await problemOf(create({ payload: '' }))).toMatchObject({ code: 'invalid_request' })
  })
})

describe('by name', () => {
  const names = [
    'a/b',
    '../..',
    ' spaces ',
    '100%',
    '%2F',
    'ключ',
    '\u{1f511}',
    'a?b#c',
    'name/x/secret',
    'Case',
    'case',
  ]
  test.each(names)('%j names its credential when percent-encoded once', async (name) => {
    const created = await create({ name, payload: `of ${name}` })
    const params = { credential_name: name }
    expect(await client.getCredentialByName({ params })).toEqual(created)
    expect(await client.getCredentialSecretByName({ params })).toMatchObject({ result: `of ${name}` })
  })
})

describe('reveal', () => {
  test('is never cached on the way', async () => {
    const { id } = await create()
    const path = `/v5/credentials/${id}/secret`
    const { headers } = await client.raw({ method: 'post', path })
    expect(headers.get('cache-control')).toBe('no-store')
  })

  test('no operation but the two tells the secret', async () => {
    const created = await create({ payload: 'only-by-reveal' })
    const params = { credential_id: created.id }
    const answers = [
      created,
      await client.getCredential({ params }),
      await client.listCredentials({ query: {} }),
      await client.updateCredential({ params, body: { payload: 'only-by-reveal' } }),
      await client.deleteCredential({ params }),
    ]
    expect(JSON.stringify(answers)).not.toContain('only-by-reveal')
  })
})

describe('update', () => {
  test('a new payload is a new version, sealed anew; the old one stays as it was', async () => {
    const { id } = await create({ payload: 'first' })
    const before = await sealedOf(id)
    await client.updateCredential({ params: { credential_id: id }, body: { payload: 'second' } })
    expect(await secret(id)).toBe('second')
    const after = await sealedOf(id)
    expect(after.map(({ version }) => version)).toEqual([1, 2])
    expect(after[0]).toEqual(before[0])
  })

  test('any other change leaves the ciphertext alone', async () => {
    const { id } = await create()
    const before = await sealedOf(id)
    const body = { name: `renamed ${id}`, description: 'new', credential_metadata: { a: 1 } }
    const updated = await client.updateCredential({ params: { credential_id: id }, body })
    expect(updated).toMatchObject(body)
    expect(await sealedOf(id)).toEqual(before)
  })

  test('what is left out or null stays, and nothing given changes nothing', async () => {
    const created = await create({ description: 'kept' })
    const params = { credential_id: created.id }
    const { text } = await client.raw(
      { method: 'patch', path: `/v5/credentials/${created.id}` },
      { text: '{"name":null}' },
    )
    expect(JSON.parse(text)).toEqual(created)
    expect(await client.updateCredential({ params, body: {} })).toEqual(created)
  })

  test('the type becomes json only when the payload is JSON, whichever of the two changes', async () => {
    const { id } = await create({ payload: 'no json' })
    const params = { credential_id: id }
    expect(await problemOf(client.updateCredential({ params, body: { type: 'json' } }))).toMatchObject({
      code: 'invalid_request',
    })
    expect(await client.updateCredential({ params, body: { type: 'json', payload: '[]' } })).toMatchObject({
      type: 'json',
    })
    expect(await problemOf(client.updateCredential({ params, body: { payload: 'no json' } }))).toMatchObject({
      code: 'invalid_request',
    })
    expect(await client.updateCredential({ params, body: { type: 'key' } })).toMatchObject({ type: 'key' })
    expect(await client.updateCredential({ params, body: { type: 'json' } })).toMatchObject({ type: 'json' })
  })

  test('a name in use is a conflict', async () => {
    const [one, other] = [await create(), await create()]
    const params = { credential_id: one.id }
    const problem = await problemOf(client.updateCredential({ params, body: { name: other.name } }))
    expect(problem).toMatchObject({ code: 'credential_exists' })
  })

  test('of concurrent payload changes none is lost: each has its version', async () => {
    const { id } = await create()
    const params = { credential_id: id }
    const change = (_: unknown, index: number) => client.updateCredential({ params, body: { payload: `p${index}` } })
    await Promise.all(Array.from({ length: 12 }, change))
    expect((await sealedOf(id)).map(({ version }) => version)).toEqual(Array.from({ length: 13 }, (_, n) => n + 1))
    expect(await secret(id)).toMatch(/^p\d+$/)
  })
})

describe('delete', () => {
  test('destroys every version, and the name is free again', async () => {
    const created = await create()
    const params = { credential_id: created.id }
    await client.updateCredential({ params, body: { payload: 'second' } })
    const deleted = { id: created.id, deleted: true, object: 'credential' }
    expect(await client.deleteCredential({ params })).toEqual(deleted)
    expect(await sealedOf(created.id)).toEqual([])
    const gone = [
      () => client.getCredential({ params }),
      () => client.getCredentialSecret({ params }),
      () => client.getCredentialByName({ params: { credential_name: created.name } }),
      () => client.getCredentialSecretByName({ params: { credential_name: created.name } }),
      () => client.updateCredential({ params, body: { payload: 'x' } }),
      () => client.deleteCredential({ params }),
    ]
    for (const call of gone) expect(await problemOf(call())).toMatchObject({ code: 'not_found' })
    expect(await create({ name: created.name })).toMatchObject({ name: created.name })
  })
})

describe('list', () => {
  test('pages hold every credential once, newest first, with the total on each', async () => {
    const lister = await app.client()
    const ids: string[] = []
    for (let index = 0; index < 7; index += 1) {
      ids.unshift((await lister.createCredential({ body: request() })).id)
    }
    const seen: string[] = []
    for (let starting_after: string | undefined; ; starting_after = seen.at(-1)) {
      const query = { limit: '3', ...(starting_after && { starting_after }) }
      const page = await lister.listCredentials({ query })
      expect(page).toMatchObject({ total: 7, limit: 3, object: 'list' })
      seen.push(...page.items.map(({ id }) => id))
      if (!page.has_more) break
    }
    expect(seen).toEqual(ids)
    const before = await lister.listCredentials({ query: { limit: '2', ending_before: ids[3]! } })
    expect(before.items.map(({ id }) => id)).toEqual([ids[1], ids[2]])
    const byName = await lister.listCredentials({ query: { sort_by: 'name', sort_order: 'asc' } })
    expect(byName.items.map(({ name }) => name)).toEqual(byName.items.map(({ name }) => name).toSorted())
    const [first] = byName.items
    expect(await lister.listCredentials({ query: { name: first!.name } })).toMatchObject({ total: 1, items: [first] })
  })
})
