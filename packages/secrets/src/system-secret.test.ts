import { expect, test } from 'vitest'
import { deriveSystemSecret, SYSTEM_ACCOUNT } from './system-secret.ts'
import { fixture, knownKeys } from './testing/test-keys.ts'

test('is the same on every replica, at first start and after a rotation', async () => {
  const { keys, replica, rows } = fixture()
  const secrets = await Promise.all(
    [keys, replica(), replica()].map((each) => deriveSystemSecret(each, 'apikey.pepper')),
  )
  await keys.rotate(SYSTEM_ACCOUNT)
  secrets.push(await deriveSystemSecret(keys, 'apikey.pepper'), await deriveSystemSecret(replica(), 'apikey.pepper'))
  expect(new Set(secrets.map((secret) => secret.toString('hex'))).size).toBe(1)
  expect(secrets[0]).toHaveLength(32)
  expect(rows.map((row) => [row.account_id, row.version])).toEqual([
    ['system', 1],
    ['system', 2],
  ])
})

test('differs by purpose, by key version and by installation', async () => {
  const { keys } = fixture()
  await keys.active(SYSTEM_ACCOUNT)
  await keys.rotate(SYSTEM_ACCOUNT)
  const secrets = await Promise.all([
    deriveSystemSecret(keys, 'apikey.pepper'),
    deriveSystemSecret(keys, 'audit.mac'),
    deriveSystemSecret(keys, 'apikey.pepper', 2),
    deriveSystemSecret(fixture().keys, 'apikey.pepper'),
  ])
  expect(new Set(secrets.map((secret) => secret.toString('hex'))).size).toBe(4)
})

test('never changes for a given key', async () => {
  expect((await deriveSystemSecret(knownKeys(1), 'apikey.pepper')).toString('hex')).toBe(
    '0e5356b6e22dfbcfe04ea40623f4c697a0e8992739f4547879fc88bda4c2e2b9',
  )
})
