import { afterAll, expect, test, vi } from 'vitest'
import { testApp } from '../test-app.fixture.ts'
import { checkpointAccount, codeOf } from './account.fixture.ts'

const app = await testApp()
afterAll(() => app[Symbol.asyncDispose]())

const LENGTH = 80

/** An account whose thread `from` has many checkpoints, each with a blob and a write of its own. */
const longThread = async () => {
  const account = await checkpointAccount(app)
  const { client, step, write } = account
  for (let number = 1; number <= LENGTH; number += 1)
    await Promise.all([step('from', number), write('from', `cp-${number}`)])
  const copyOf = (source_thread_id: string, target_thread_id: string) =>
    client.copyThread({ body: { source_thread_id, target_thread_id } })
  /** The checkpoints of a thread that have their blob and their write. */
  const wholeIds = async (thread_id: string) => {
    const tuples = await client.listCheckpoints({ body: { thread_id, include: ['blobs', 'pending_writes'] } })
    const whole = tuples.filter(({ blobs, pending_writes }) => blobs?.length === 1 && pending_writes?.length === 1)
    return whole.map(({ checkpoint_id }) => checkpoint_id)
  }
  return { ...account, copyOf, wholeIds }
}

/** Runs `meanwhile` while a copy is held up: another transaction has got to its target first. */
const heldUp = async <Result>(account_id: string, copy: () => Promise<Result>, meanwhile: () => Promise<unknown>) => {
  const copies: Promise<Result>[] = []
  await app.db.sql.begin(async (sql) => {
    await sql`select pg_advisory_xact_lock(hashtext(${account_id}), hashtext('to'))`
    copies.push(copy())
    await vi.waitFor(async () => {
      const waiting = await app.db.sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      expect(waiting).toHaveLength(1)
    })
    await meanwhile()
  })
  return await copies[0]
}

test('nobody who puts to a thread waits for a copy of it, nor does a prune', async () => {
  const { client, copyOf, put, ids } = await longThread()
  const [head] = await ids('from')
  const work = async () => {
    await put('from', 'cq', { parent_checkpoint_id: head!, expected_head_checkpoint_id: head! })
    await client.pruneCheckpoints({ body: { thread_ids: ['from'], keep_last: LENGTH } })
  }
  const copied = await heldUp(client.account_id, () => copyOf('from', 'to'), work)
  expect(copied).toEqual({ checkpoints: LENGTH, blobs: LENGTH, writes: LENGTH })
  expect(await ids('to')).not.toContain('cq')
  expect(await ids('from')).toHaveLength(LENGTH)
})

test('a copy of a thread that was deleted while it waited for its target is none', async () => {
  const { client, copyOf, ids } = await longThread()
  const gone = () => client.deleteThread({ body: { thread_id: 'from' } })
  expect(await heldUp(client.account_id, () => codeOf(copyOf('from', 'to')), gone)).toBe('not_found')
  expect(await ids('to')).toEqual([])
})

test('a copy is whole, or there is none, while its thread is put to, pruned and deleted', async () => {
  for (let round = 0; round < 4; round += 1) {
    const { client, copyOf, put, wholeIds, ids } = await longThread()
    const targets = Array.from({ length: 4 }, (_, index) => `to-${index}`)
    const [outcomes] = await Promise.all([
      Promise.all(targets.map((target) => codeOf(copyOf('from', target)))),
      client.pruneCheckpoints({ body: { thread_ids: ['from'], keep_last: 10 } }),
      codeOf(put('from', 'cq', { parent_checkpoint_id: 'cp-99' })),
      client.deleteThread({ body: { thread_id: 'from' } }),
    ])
    for (const [index, target] of targets.entries()) {
      const copied = (await ids(target)).filter((id) => id !== 'cq')
      expect(copied).toEqual(await wholeIds(target))
      expect(outcomes[index]).toBe(copied.length === 0 ? 'not_found' : 'ok')
    }
  }
})
