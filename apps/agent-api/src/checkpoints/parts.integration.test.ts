import { afterAll, describe, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'
import { checkpointAccount } from './account.fixture.ts'
import { findDoomed } from './doomed.ts'

const app = await testApp()
afterAll(() => app[Symbol.asyncDispose]())
const { sql } = app.db

const VALUE_BYTES = 1000
const CHECKPOINTS = 10

/** A thread `t` of ten checkpoints, each with a blob and two writes of 1,000 bytes. */
const thread = async () => {
  const account = await checkpointAccount(app)
  const { account_id } = account.client
  for (let number = 1; number <= CHECKPOINTS; number += 1) await account.step('t', number)
  await sql`
    update agent.checkpoint_blobs set blob = convert_to(repeat('v', ${VALUE_BYTES}), 'utf8') where account_id = ${account_id}`
  await sql`
    insert into agent.checkpoint_writes (account_id, thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, blob, task_path)
    select ${account_id}, 't', '', checkpoint_id, 't', idx, 'c', convert_to(repeat('v', ${VALUE_BYTES}), 'utf8'), ''
    from agent.checkpoints, generate_series(0, 1) as idx where account_id = ${account_id}`
  const valueCount = async () => {
    const [count] = await sql<[{ blobs: number; writes: number }]>`
      select (select count(*)::integer from agent.checkpoint_blobs where account_id = ${account_id}) as blobs,
        (select count(*)::integer from agent.checkpoint_writes where account_id = ${account_id}) as writes`
    return count.blobs + count.writes
  }
  return { ...account, account_id, valueCount }
}

const VALUES = 3 * CHECKPOINTS

/** Repeats a step until it says that nothing is left, and tells how many values were there after each. */
const stepsOf = async (step: () => Promise<boolean>, valueCount: () => Promise<number>) => {
  const counts: number[] = []
  for (let isLeft = true; isLeft;) {
    isLeft = await step()
    counts.push(await valueCount())
  }
  return counts
}

/** Each limit, and how many values a part may have by it. */
const LIMITS = [
  ['rows', 4, 1_000_000, 4],
  ['bytes', 1000, 4 * VALUE_BYTES + 999, 4],
  ['bytes of which one value has more, which goes alone', 1000, VALUE_BYTES - 1, 1],
] as const

describe.each(LIMITS)('a lock limited by %s', (_, rows, bytes, most) => {
  const expected = Array.from({ length: Math.ceil(VALUES / most) }, (_, index) =>
    Math.max(0, VALUES - (index + 1) * most),
  )

  test('covers no more of what a deleted thread left, and all of it goes', async () => {
    const { account_id, valueCount, ids } = await thread()
    const [deleted] = await sql`select agent.delete_thread(${account_id}, 't', 1, 1, null) as is_left`
    expect([deleted?.['is_left'], await ids('t'), await valueCount()]).toEqual([true, [], VALUES])
    const step = async () => {
      const [part] = await sql`select agent.delete_leftovers(${account_id}, 't', ${rows}, ${bytes}) as is_left`
      return part?.['is_left'] === true
    }
    expect(await stepsOf(step, valueCount)).toEqual(expected)
  })

  test('covers no more of what is forgotten with a tombstone, and all of it goes', async () => {
    const { account_id, valueCount } = await thread()
    await sql`select agent.delete_thread(${account_id}, 't', 1, 1, null)`
    await sql`update agent.threads set deleted_at = now() - interval '9 s', updated_at = deleted_at - interval '9 s' where account_id = ${account_id}`
    const step = async () => {
      const [part] = await sql`select agent.drop_tombstone(${account_id}, 't', ${rows}, ${bytes}, 5) as is_left`
      return part?.['is_left'] === true
    }
    expect(await stepsOf(step, valueCount)).toEqual(expected)
    expect([...(await sql`select from agent.threads where account_id = ${account_id}`)]).toEqual([])
  })

  test('covers no more of what removed checkpoints had, and all of it goes', async () => {
    const { account_id, valueCount, ids, put } = await thread()
    await put('t', 'cp-99')
    const doomed = await findDoomed(app.db, { account_id, thread_id: 't', isKept: sql`checkpoint_id = 'cp-99'` })
    const { namespaces, planned_at } = doomed!
    const blobs = sql`${namespaces}::text[], ${namespaces.map(() => 'c')}::text[], ${doomed!.ids}::text[], ${planned_at}`
    let isFirst = true
    const step = async () => {
      const [part] = isFirst
        ? await sql`select is_left from agent.remove_checkpoints(
            ${account_id}, 't', ${namespaces}::text[], ${doomed!.ids}::text[], 1, ${CHECKPOINTS}, ${blobs}, null, ${rows}, ${bytes})`
        : await sql`select is_left from agent.remove_orphans(
            ${account_id}, 't', ${namespaces}::text[], ${doomed!.ids}::text[], ${blobs}, ${rows}, ${bytes})`
      isFirst = false
      return part?.['is_left'] === true
    }
    expect([await stepsOf(step, valueCount), await ids('t')]).toEqual([expected, ['cp-99']])
  })
})

describe('what is left of checkpoints that are gone', () => {
  test('is taken over by what was put before it went: a value that a new checkpoint names, writes of one put again', async () => {
    const { account_id, client, put, valueCount } = await thread()
    const doomed = await findDoomed(app.db, { account_id, thread_id: 't', isKept: sql`false` })
    const { namespaces, ids, planned_at } = doomed!
    const keys = sql`${account_id}, 't', ${namespaces}::text[], ${ids}::text[]`
    const blobs = sql`${namespaces}::text[], ${namespaces.map(() => 'c')}::text[], ${ids}::text[]`
    await sql`
      select from agent.remove_checkpoints(
        ${account_id}, 't', ${namespaces}::text[], ${ids}::text[], 1, ${CHECKPOINTS}, ${blobs}, ${planned_at}, null, 1, 1)`
    await put('t', 'cp-3', { checkpoint: { channel_versions: { c: 'cp-5' } } })
    const [rest] = await sql`
      select is_left from agent.remove_orphans(${keys}, ${blobs}, ${planned_at}, 1000, 1000000)`
    expect([rest?.['is_left'], await valueCount()]).toEqual([false, 3])
    const tuple = await client.getCheckpointTuple({ body: { thread_id: 't' } })
    expect(tuple).toMatchObject({ blobs: [{ version: 'cp-5' }], pending_writes: [{ idx: 0 }, { idx: 1 }] })
  })

  test('and was never removed, as its process died, goes with the tombstone of the thread', async () => {
    const { account_id, client, ids, valueCount } = await thread()
    await client.pruneCheckpoints({ body: { keep_last: 9 } })
    await sql`delete from agent.checkpoints where account_id = ${account_id} and checkpoint_id = 'cp-2'`
    await sql`update agent.threads set deleted_through = 'cp-2', deleted_at = now() - interval '9 s' where account_id = ${account_id}`
    for (let isLeft = true; isLeft;) {
      const [part] = await sql`select agent.drop_tombstone(${account_id}, 't', 1, 1, 5) as is_left`
      isLeft = part?.['is_left'] === true
    }
    expect([(await ids('t')).length, await valueCount()]).toEqual([8, 24])
  })
})

test('large values are pruned in several parts, and counted as a dry run counts them', async () => {
  const { client, account_id, valueCount, ids } = await thread()
  await sql`update agent.checkpoint_blobs set blob = convert_to(repeat('v', 1500000), 'utf8') where account_id = ${account_id}`
  await sql`update agent.checkpoints set checkpoint = checkpoint || repeat(' ', 1500000) where account_id = ${account_id}`
  const body = { thread_ids: ['t'], keep_last: 2 }
  const counts = { checkpoints: 8, blobs: 8, writes: 16, has_more: false }
  expect(await client.pruneCheckpoints({ body: { ...body, dry_run: true } })).toEqual(counts)
  expect(await client.pruneCheckpoints({ body })).toEqual(counts)
  expect([(await ids('t')).length, await valueCount()]).toEqual([2, 6])
})
