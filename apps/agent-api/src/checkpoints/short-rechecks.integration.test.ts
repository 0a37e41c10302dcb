import type postgres from 'postgres'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { testApp } from '../test-app.fixture.ts'
import { base64, checkpointAccount, codeOf } from './account.fixture.ts'

const app = await testApp()
afterAll(() => app[Symbol.asyncDispose]())
const { sql } = app.db

const VERSIONS = ['v1', 'v2', 'v3', 'v4']

/** A thread `t` that was pruned to `cp-2`, with blobs of versions `v1` to `v4` that nothing names, and writes of `cp-1`. */
const leftBehind = async () => {
  const account = await checkpointAccount(app)
  const { client, step } = account
  const { account_id } = client
  await step('t', 1)
  await step('t', 2)
  await client.pruneCheckpoints({ body: { thread_ids: ['t'], keep_last: 1 } })
  await sql`
    insert into agent.checkpoint_blobs (account_id, thread_id, checkpoint_ns, channel, version, type, blob)
    select ${account_id}, 't', '', 'c', version, 'json', 'old' from unnest(${VERSIONS}::text[]) as version`
  await sql`
    insert into agent.checkpoint_writes (account_id, thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, blob, task_path)
    select ${account_id}, 't', '', 'cp-1', 't', idx, 'c', '', '' from generate_series(1, 2) as idx`

  /** Puts a checkpoint without asking for the lock. */
  const insert = (tx: postgres.ISql, id: string, versions: string[], ns = '') => tx`
    insert into agent.checkpoints as c (account_id, thread_id, checkpoint_ns, checkpoint_id, checkpoint, metadata, metadata_filter, channels, versions)
    values (${account_id}, 't', ${ns}, ${id}, '{}', '{}', '{}', ${versions.map(() => 'c')}, ${versions})
    on conflict (account_id, thread_id, checkpoint_ns, checkpoint_id) do update set channels = excluded.channels, versions = excluded.versions`
  const rest = async () => {
    const blobs = await sql<{ version: string }[]>`
      select version from agent.checkpoint_blobs where account_id = ${account_id} order by version`
    const writes = await sql`select from agent.checkpoint_writes where account_id = ${account_id}`
    return { versions: blobs.map(({ version }) => version), writes: writes.length }
  }
  const removals = {
    delete_leftovers: async () => {
      const [row] = await sql`select agent.delete_leftovers(${account_id}, 't', 1000, 1000000) as is_left`
      return row?.['is_left'] as boolean
    },
    remove_unnamed_blobs: () => removeUnnamed(VERSIONS),
  }
  const removeUnnamed = async (versions: string[]) => {
    const [row] = await sql`
      select agent.remove_unnamed_blobs(${account_id}, 't', '', ${versions.map(() => 'c')}::text[], ${versions}::text[]) as removed`
    return row?.['removed'] as boolean
  }
  /** Has the thread alone while `removal` looks and waits for it, and does `meanwhile` before it goes on. */
  const heldUp = async (
    removal: () => Promise<unknown>,
    meanwhile: (tx: postgres.ISql) => PromiseLike<unknown>,
    before: (tx: postgres.ISql) => PromiseLike<unknown> = () => Promise.resolve(),
  ) => {
    const started: Promise<unknown>[] = []
    await sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(hashtext(${account_id}), hashtext('t'))`
      await before(tx)
      started.push(removal())
      await vi.waitFor(async () => {
        const waiting = await sql`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
        expect(waiting).toHaveLength(1)
      })
      await meanwhile(tx)
    })
    return await started[0]
  }
  return { ...account, account_id, insert, rest, removals, removeUnnamed, heldUp }
}

describe.each([
  ['delete_leftovers', false, 0],
  ['remove_unnamed_blobs', true, 2],
] as const)('%s', (name, answer, writes) => {
  test('removes what nothing names', async () => {
    const { removals, rest } = await leftBehind()
    expect([await removals[name](), await rest()]).toEqual([answer, { versions: ['cp-2'], writes }])
  })

  test('keeps what a checkpoint names, wherever among its channels', async () => {
    const { removals, rest, insert } = await leftBehind()
    await insert(sql, 'cp-4', ['v9', 'v4', 'v1'])
    await insert(sql, 'cp-5', ['v9'])
    expect([await removals[name](), await rest()]).toEqual([answer, { versions: ['cp-2', 'v1', 'v4'], writes }])
  })

  test('keeps what a checkpoint of another namespace names only if it is of that namespace', async () => {
    const { removals, rest, insert, heldUp } = await leftBehind()
    await insert(sql, 'cp-4', VERSIONS, 'sub')
    await heldUp(removals[name], (tx) => insert(tx, 'cp-5', VERSIONS, 'sub'))
    expect(await rest()).toEqual({ versions: ['cp-2'], writes })
  })

  test('keeps what is named by a checkpoint that came after the choice', async () => {
    const { removals, rest, insert, heldUp } = await leftBehind()
    expect(await heldUp(removals[name], (tx) => insert(tx, 'cp-3', ['v2']))).toBe(answer)
    expect(await rest()).toEqual({ versions: ['cp-2', 'v2'], writes })
  })

  test('keeps what is named by a checkpoint that was put again after the choice', async () => {
    const { removals, rest, insert, heldUp } = await leftBehind()
    await heldUp(removals[name], (tx) => insert(tx, 'cp-2', ['cp-2', 'v2']))
    expect(await rest()).toEqual({ versions: ['cp-2', 'v2'], writes })
  })

  test('keeps what is named by a checkpoint of an older transaction that ended after the choice', async () => {
    const { removals, rest, insert, heldUp, put } = await leftBehind()
    const nothing = () => Promise.resolve()
    await heldUp(removals[name], nothing, async (tx) => {
      await insert(tx, 'cp-3', ['v2'])
      await put('other', 'cp-1')
    })
    expect(await rest()).toEqual({ versions: ['cp-2', 'v2'], writes })
  })

  test('removes what a checkpoint named that was never committed', async () => {
    const { removals, rest, insert, heldUp } = await leftBehind()
    await heldUp(removals[name], (tx) =>
      (tx as postgres.TransactionSql)
        .savepoint(async (inner) => {
          await insert(inner, 'cp-3', ['v2'])
          throw new Error('undone')
        })
        .catch(() => {}),
    )
    expect(await rest()).toEqual({ versions: ['cp-2'], writes })
  })

  test('leaves to the next look what lost its checkpoint after the choice', async () => {
    const { removals, rest, insert, heldUp, account_id } = await leftBehind()
    await insert(sql, 'cp-3', ['v2'])
    await heldUp(
      removals[name],
      (tx) => tx`delete from agent.checkpoints where account_id = ${account_id} and checkpoint_id = 'cp-3'`,
    )
    expect(await rest()).toEqual({ versions: ['cp-2', 'v2'], writes })
    await removals[name]()
    expect(await rest()).toEqual({ versions: ['cp-2'], writes })
  })
})

describe('delete_leftovers', () => {
  test('keeps writes whose checkpoint came after the choice', async () => {
    const { removals, rest, insert, heldUp } = await leftBehind()
    await heldUp(removals.delete_leftovers, (tx) => insert(tx, 'cp-1', []))
    expect(await rest()).toEqual({ versions: ['cp-2'], writes: 2 })
  })

  test('keeps writes that are of no deleted checkpoint any more', async () => {
    const { removals, rest, heldUp, account_id } = await leftBehind()
    await heldUp(
      removals.delete_leftovers,
      (tx) =>
        tx`update agent.threads set deleted_through = 'cp-0' where account_id = ${account_id} and thread_id = 't'`,
    )
    expect(await rest()).toEqual({ versions: ['cp-2'], writes: 2 })
  })

  test('leaves to another what both chose', async () => {
    const { removals, rest, insert } = await leftBehind()
    await insert(sql, 'cp-3', ['v2'])
    await Promise.all(Array.from({ length: 8 }, removals.delete_leftovers))
    expect(await rest()).toEqual({ versions: ['cp-2', 'v2'], writes: 0 })
  })
})

describe('remove_unnamed_blobs', () => {
  test('asks for no lock when all is named, or nothing is there', async () => {
    const { insert, removeUnnamed, rest, account_id } = await leftBehind()
    await insert(sql, 'cp-3', ['v2', 'v3'])
    const answers = await sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(hashtext(${account_id}), hashtext('t'))`
      return Promise.all([['v2', 'v3', 'cp-2'], ['v5'], []].map(removeUnnamed))
    })
    expect([answers, await rest()]).toEqual([[true, true, true], { versions: ['cp-2', ...VERSIONS], writes: 2 }])
  })

  test('removes no other version of a channel than it is asked for', async () => {
    const { removeUnnamed, rest } = await leftBehind()
    await removeUnnamed(['v2'])
    expect(await rest()).toEqual({ versions: ['cp-2', 'v1', 'v3', 'v4'], writes: 2 })
  })

  test('lets a put through that is tried twice at once', async () => {
    const { put, rest } = await leftBehind()
    const again = () =>
      codeOf(
        put('t', 'cp-3', {
          checkpoint: { channel_versions: { c: 'v2' } },
          parent_checkpoint_id: 'cp-2',
          blobs: [{ channel: 'c', version: 'v2', type: 'json', blob: base64('new') }],
        }),
      )
    expect(await Promise.all(Array.from({ length: 6 }, again))).toEqual(Array(6).fill('ok'))
    expect((await rest()).versions).toContain('v2')
  })
})
