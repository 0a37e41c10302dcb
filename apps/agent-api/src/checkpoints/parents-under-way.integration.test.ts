import { afterAll, expect, test, vi } from 'vitest'
import { testApp } from '../test-app.fixture.ts'
import { base64, checkpointAccount, codeOf } from './account.fixture.ts'
import { checkpointRow } from './checkpoint-row.ts'
import { putCheckpoints } from './put-checkpoint.ts'

const app = await testApp()
afterAll(() => app[Symbol.asyncDispose]())

/** An account whose thread `t` was deleted. */
const deletedThread = async () => {
  const account = await checkpointAccount(app)
  await account.step('t', 1)
  await account.client.deleteThread({ body: { thread_id: 't' } })
  return account
}

const blobs = (version: string, bytes: number) => [
  { channel: 'c', version, type: 'json', blob: base64('x'.repeat(bytes)) },
]
const [SMALL, LARGE] = [10, 40_000]

/** Statements that wait for a thread. */
const waiting = async () => {
  const [{ count }] = await app.db.sql<[{ count: number }]>`
    select count(*)::integer as count from pg_locks
    where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())`
  return count
}

test.each([
  [SMALL, SMALL],
  [SMALL, LARGE],
  [LARGE, SMALL],
  [LARGE, LARGE],
])(
  'a put of %i bytes that begins a deleted thread anew may be under way when its child of %i comes',
  async (...sizes) => {
    for (let round = 0; round < 15; round += 1) {
      const { put, step, ids } = await deletedThread()
      const [first, child] = sizes.map((bytes, index) => ({ blobs: blobs(`${index}`, bytes) }))
      const outcomes = await Promise.all([
        ...Array.from({ length: 8 }, (_, index) => codeOf(step(`other-${index}`, 1))),
        codeOf(put('t', 'cp-7', { checkpoint_ns: 'ns', ...first })),
        codeOf(put('t', 'cp-8', { checkpoint_ns: 'ns', ...child, parent_checkpoint_id: 'cp-7' })),
      ])
      expect(outcomes).toEqual(Array(10).fill('ok'))
      expect(await ids('t')).toEqual(['cp-8', 'cp-7'])
    }
  },
)

test('a put that begins a deleted thread anew may be under way in another service when its child comes', async () => {
  const { client, put, write, ids } = await deletedThread()
  await write('t', 'cp-8')
  const root = { thread_id: 't', checkpoint_ns: '', checkpoint_id: 'cp-7', parent_checkpoint_id: undefined }
  const row = checkpointRow(client.account_id, {
    ...root,
    checkpoint: {},
    metadata: {},
    blobs: [],
    expected_head_checkpoint_id: undefined,
  })
  const children: Promise<string>[] = []
  await app.db.sql.begin(async (sql) => {
    await putCheckpoints({ sql: sql as unknown as typeof app.db.sql }, [row])
    children.push(codeOf(put('t', 'cp-8', { parent_checkpoint_id: 'cp-7', blobs: blobs('v', LARGE) })))
    await Promise.race([...children, vi.waitFor(async () => expect(await waiting()).toBe(1))])
  })
  expect(await Promise.all(children)).toEqual(['ok'])
  expect(await ids('t')).toEqual(['cp-8', 'cp-7'])
  const tuple = await client.getCheckpointTuple({ body: { thread_id: 't' } })
  expect(tuple?.pending_writes).toHaveLength(1)
})
