import { randomBytes } from 'node:crypto'
import { connect } from '@keelson/database'
import { testAccount, testDatabase } from '@keelson/testing'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { recordAudit } from './audit-entry.ts'
import { sealAuditLog, type AuditCheckpoint } from './audit-sealer.ts'
import { verifyAuditLog } from './audit-verify.ts'

const database = await testDatabase()
const { db } = database
afterAll(() => database[Symbol.asyncDispose]())

const account = await testAccount(db)
const principal = { ...account, identity_type: 'user' } as const
const key = randomBytes(32)
let checkpoints: AuditCheckpoint[] = []
const checkpoint = async (made: AuditCheckpoint) => void checkpoints.push(made)

const write = async (count: number) => {
  for (let index = 0; index < count; index += 1) {
    const act = { principal, requestId: `request ${index}`, action: 'credential.reveal' }
    await recordAudit(db, act, { target_id: `cred_${index}`, target_version: 1, outcome: 'granted' })
  }
}
const seal = () => sealAuditLog({ db, key, checkpoint })
const verify = (told = checkpoints) => verifyAuditLog(db, key, told)

/** What somebody with the rights of a superuser does. */
const tamper = (statement: string) =>
  db.sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`
    await tx.unsafe(statement)
  })

/** As if the seals had been made a while ago. */
const age = () => tamper(`update identity.audit_seals set created_at = created_at - interval '1 hour'`)

beforeEach(async () => {
  await tamper('truncate identity.audit_log, identity.audit_seals restart identity')
  checkpoints = []
  await write(4)
  await seal()
  await write(4)
  await seal()
})

test('rows are sealed once, in a chain that verifies, and each seal is told outside', async () => {
  expect(await seal()).toBe(0)
  expect(checkpoints).toMatchObject([
    { seal: 1, rows: 4 },
    { seal: 2, rows: 4 },
  ])
  await write(1)
  expect(await verify()).toEqual({ rows: 8, seals: 2, unsealed: 1, problems: [] })
})

test('a row that commits after a later one was sealed gets its seal', async () => {
  const late = connect({ url: database.url, applicationName: 'late', maxConnections: 1 })
  const open = Promise.withResolvers<void>()
  const written = Promise.withResolvers<void>()
  const act = { principal, requestId: 'late', action: 'credential.reveal' }
  const slow = late.sql.begin(async (tx) => {
    await recordAudit({ sql: tx as never }, act, { target_id: 'cred_late', target_version: 1, outcome: 'granted' })
    written.resolve()
    await open.promise
  })
  await written.promise
  await write(2)
  expect(await seal()).toBe(2)
  open.resolve()
  await slow
  expect(await seal()).toBe(1)
  expect(await verify()).toEqual({ rows: 11, seals: 4, unsealed: 0, problems: [] })
  await late[Symbol.asyncDispose]()
})

test('rows beyond old seals and beside numbers that were never used are sealed, once', async () => {
  await age()
  await tamper(`select nextval('identity.audit_log_seq_seq')`)
  await write(2)
  await tamper(`select nextval('identity.audit_log_seq_seq')`)
  await write(1)
  expect(await seal()).toBe(3)
  await write(1)
  expect(await seal()).toBe(1)
  expect(await seal()).toBe(0)
  expect(await verify()).toEqual({ rows: 12, seals: 4, unsealed: 0, problems: [] })
})

test.each([
  ['edited', `update identity.audit_log set outcome = 'not_found' where seq = 2`],
  ['given another time', `update identity.audit_log set at = at + interval '1 microsecond' where seq = 2`],
  ['deleted', 'delete from identity.audit_log where seq = 2'],
  ['moved to another account', `update identity.audit_log set account_id = 'acct_other' where seq = 2`],
  [
    'reordered',
    `update identity.audit_log l set target_id = o.target_id from identity.audit_log o
      where (l.seq = 2 and o.seq = 3) or (l.seq = 3 and o.seq = 2)`,
  ],
  ['uncovered', `update identity.audit_seals set seqs = '{[1,4)}', row_count = 3 where number = 1`],
  ['of a seal that is gone', 'delete from identity.audit_seals where number = 1'],
])('a row that was %s is found', async (_, statement) => {
  await tamper(statement)
  expect((await verify([])).problems.length).toBeGreaterThan(0)
})

test('a row put in among sealed ones is found', async () => {
  await tamper(`delete from identity.audit_log where seq = 3`)
  await tamper(`update identity.audit_seals set seqs = '{[1,3),[4,5)}', row_count = 3 where number = 1`)
  expect((await verify([])).problems.length).toBeGreaterThan(0)
  await age()
  await tamper(`insert into identity.audit_log overriding system value select account_id, 0, at, key_id, identity_id,
    identity_type, action, target_type, target_id, target_version, outcome, request_id from identity.audit_log where seq = 1`)
  expect((await verify([])).problems).toContain('row 0 was inserted where everything had been sealed')
})

test('an end that was cut off, rows and seals, is found by the checkpoints', async () => {
  await tamper('delete from identity.audit_log where seq > 4')
  await tamper('delete from identity.audit_seals where number = 2')
  expect((await verify([])).problems).toEqual([])
  expect((await verify()).problems).toEqual(['seals 2 to 2 are cut off the end'])
})

test('a chain made anew under another key is found', async () => {
  await tamper('truncate identity.audit_seals')
  await sealAuditLog({ db, key: randomBytes(32), checkpoint: async () => {} })
  expect((await verify()).problems.length).toBeGreaterThan(0)
})

test('nobody changes or deletes a row in the ordinary way, not even the owner', async () => {
  await expect(db.sql`update identity.audit_log set outcome = 'done'`).rejects.toThrow('never changed')
  await expect(db.sql`delete from identity.audit_log`).rejects.toThrow('never changed')
  await expect(db.sql`truncate identity.audit_log`).rejects.toThrow('never changed')
  await expect(db.sql`delete from identity.audit_seals`).rejects.toThrow('never changed')
})
