import { connect, isBlocked } from '@keelson/database'
import { testAccount, testDatabase } from '@keelson/testing'
import { expect, test } from 'vitest'
import { checkpointWriter } from './checkpoint-writer.ts'

const THREADS = Array.from({ length: 20 }, (_, index) => `thread ${index}`)
const LOCKED = 'thread 7'
const CHECKPOINT = { checkpoint_ns: '', checkpoint_id: 'cp-1' }

test.each(['put', 'putWrites'] as const)(
  'a locked thread is refused to a %s alone, and the others are written',
  async (kind) => {
    await using database = await testDatabase()
    await using db = connect({ url: database.url, applicationName: 'test', lockTimeoutMs: 100 })
    const { account_id } = await testAccount(db)
    const { put, putWrites } = checkpointWriter(db)
    const kinds = {
      put: (thread_id: string) =>
        put({
          ...CHECKPOINT,
          account_id,
          thread_id,
          parent_checkpoint_id: null,
          root_checkpoint_id: null,
          checkpoint: '{}',
          metadata: '{}',
          metadata_filter: '{}',
          channels: [],
          versions: [],
          run_id: null,
          expected_head: null,
          blobs: [],
        }),
      putWrites: (thread_id: string) => {
        const write = { task_id: 't', idx: 0, channel: 'c', type: 'null', blob: '', task_path: '' }
        return putWrites({ ...CHECKPOINT, account_id, thread_id, writes: [write] }, false)
      },
    }
    const outcomes = await database.db.sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(hashtext(${account_id}), hashtext(${LOCKED}))`
      return Promise.allSettled(THREADS.map(kinds[kind]))
    })
    const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []))
    expect(reasons.map(isBlocked)).toEqual([true])
    const written = await db.sql<
      { thread_id: string }[]
    >`select thread_id from agent.threads where account_id = ${account_id}`
    expect(written.map(({ thread_id }) => thread_id).toSorted()).toEqual(
      THREADS.filter((id) => id !== LOCKED).toSorted(),
    )
  },
)
