import { afterAll, expect, test, vi } from 'vitest'
import { testApp } from '../test-app.fixture.ts'

const app = await testApp()
afterAll(() => app[Symbol.asyncDispose]())
const client = await app.client()
const { account_id } = client

const CHECKPOINTS = 5000
// Every step is short; there are many of them.
vi.setConfig({ testTimeout: 120_000 })

/** A thread of 5,000 checkpoints with four blobs and three writes each. */
const seed = async (thread_id: string) => {
  const { sql } = app.db
  await sql`insert into agent.threads (account_id, thread_id) values (${account_id}, ${thread_id}) on conflict do nothing`
  await sql`
    insert into agent.checkpoints (account_id, thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata, metadata_filter, channels, versions)
    select ${account_id}, ${thread_id}, '', lpad(n::text, 6, '0'), lpad((n - 1)::text, 6, '0'), '{"v":4}', '{}', '{}',
      '{a,b,c,d}', array[n::text, n::text, n::text, n::text] from generate_series(1, ${CHECKPOINTS}::integer) as n`
  await sql`
    insert into agent.checkpoint_blobs (account_id, thread_id, checkpoint_ns, channel, version, type, blob)
    select ${account_id}, ${thread_id}, '', channel, n::text, 'json', convert_to(repeat(n::text, 100), 'utf8')
    from generate_series(1, ${CHECKPOINTS}::integer) as n, unnest('{a,b,c,d}'::text[]) as channel`
  await sql`
    insert into agent.checkpoint_writes (account_id, thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob, task_path)
    select ${account_id}, ${thread_id}, '', lpad(n::text, 6, '0'), 't', idx, 'a', 'json', 'x', ''
    from generate_series(1, ${CHECKPOINTS}::integer) as n, generate_series(0, 2) as idx`
}

/** Puts to the thread one after the other until told to end; the longest of them waited for whoever held it. */
const prober = (thread_id: string, first: number) => {
  const stop = new AbortController()
  const run = async () => {
    let longestMs = 0
    for (let number = first; !stop.signal.aborted; number += 1) {
      const started = performance.now()
      await client.putCheckpoint({
        body: { thread_id, checkpoint_id: String(number).padStart(6, '0'), checkpoint: {} },
      })
      longestMs = Math.max(longestMs, performance.now() - started)
    }
    return longestMs
  }
  const running = run()
  return async () => {
    stop.abort()
    return await running
  }
}

type CheckpointPlace = { thread_id: string; checkpoint_ns: string; checkpoint_id: string }

const rowsLeft = async (thread_id: string) => {
  const [left] = await app.db.sql<[{ blobs: number; writes: number }]>`
    select (select count(*)::integer from agent.checkpoint_blobs where account_id = ${account_id} and thread_id = ${thread_id}) as blobs,
      (select count(*)::integer from agent.checkpoint_writes where account_id = ${account_id} and thread_id = ${thread_id}) as writes`
  return left
}

test('a thread of 5,000 checkpoints is pruned and deleted in small steps, while others put to it', async () => {
  const thread_id = 'pruned'
  await seed(thread_id)
  const all = { thread_ids: [thread_id], keep_last: 10, dry_run: true }
  expect(await client.pruneCheckpoints({ body: all })).toMatchObject({ checkpoints: CHECKPOINTS - 10 })
  const whilePruning = prober(thread_id, CHECKPOINTS + 1)
  let pruned = 0
  // What is put meanwhile may be old enough before all of this is pruned.
  while (pruned < CHECKPOINTS - 10) {
    const answer = await client.pruneCheckpoints({
      body: { thread_ids: [thread_id], max_age_seconds: 1, keep_last: 10 },
    })
    pruned += answer.checkpoints
  }
  const longestPruningMs = await whilePruning()

  const whileDeleting = prober(thread_id, 90_000)
  await client.deleteThread({ body: { thread_id } })
  const longestDeletingMs = await whileDeleting()
  await client.deleteThread({ body: { thread_id } })
  expect(await client.listCheckpoints({ body: { thread_id } })).toEqual([])
  expect(await rowsLeft(thread_id)).toEqual({ blobs: 0, writes: 0 })
  expect(Math.max(longestPruningMs, longestDeletingMs)).toBeLessThan(2_000)
  process.stdout.write(
    `longest wait: ${longestPruningMs.toFixed(0)} ms pruning, ${longestDeletingMs.toFixed(0)} ms deleting\n`,
  )
})

test('a thread of 5,000 checkpoints is deleted at once for its readers, and then row by row', async () => {
  const thread_id = 'deleted'
  await seed(thread_id)
  await client.deleteThread({ body: { thread_id } })
  expect(await client.getCheckpointTuple({ body: { thread_id } })).toBeNull()
  expect(await rowsLeft(thread_id)).toEqual({ blobs: 0, writes: 0 })
})

test('of a thread whose checkpoints are large themselves, the history goes in parts and the latest stays until the end', async () => {
  const { sql } = app.db
  const thread_id = 'heavy'
  const last = '000080'
  await sql`insert into agent.threads (account_id, thread_id) values (${account_id}, ${thread_id})`
  await sql`
    insert into agent.checkpoints (account_id, thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata, metadata_filter, channels, versions)
    select ${account_id}, ${thread_id}, '', lpad(n::text, 6, '0'), lpad((n - 1)::text, 6, '0'), text, '{}', '{}', '{}', '{}'
    from generate_series(1, ${last}::integer) as n, (select string_agg(md5(part::text), '') as text from generate_series(1, 32768) as part) as one`
  const seen: { count: number; latest: string | null }[] = []
  const look = async () => {
    const [found] = await sql<[{ count: number; latest: string | null }]>`
      select count(*)::integer as count, max(checkpoint_id) as latest from agent.checkpoints
      where account_id = ${account_id} and thread_id = ${thread_id}`
    seen.push(found)
    return found.count
  }
  const deleting = client.deleteThread({ body: { thread_id } })
  while ((await look()) > 0);
  await deleting
  const during = seen.filter(({ count }) => count > 0)
  expect(new Set(during.map(({ latest }) => latest))).toEqual(new Set([last]))
  expect(during.some(({ count }) => count < Number(last))).toBe(true)
  const late = { thread_id, checkpoint_id: '000081', parent_checkpoint_id: last, checkpoint: {} }
  await expect(client.putCheckpoint({ body: late })).rejects.toMatchObject({ problem: { code: 'thread_deleted' } })
})

test('a page of large checkpoints ends early, and paging reads them all', async () => {
  const thread_id = 'large'
  const size = 12_000_000
  const blobs = [{ channel: 'c', version: '1', type: 'bytes', blob: Buffer.alloc(size).toString('base64') }]
  const checkpoint = { channel_versions: { c: '1' } }
  const ids = ['e', 'd', 'c', 'b', 'a']
  for (const checkpoint_id of ids)
    await client.putCheckpoint({
      body: { thread_id, checkpoint_id, checkpoint, ...(checkpoint_id === ids[0] && { blobs }) },
    })
  const pages: string[][] = []
  for (let starting_after: CheckpointPlace | undefined; ;) {
    const page = await client.listCheckpoints({ body: { thread_id, limit: 1000, include: ['blobs'], starting_after } })
    const last = page.at(-1)
    if (last === undefined) break
    for (const { blobs } of page) expect(blobs?.[0]?.blob?.length).toBe(Math.ceil(size / 3) * 4)
    pages.push(page.map(({ checkpoint_id }) => checkpoint_id))
    starting_after = {
      thread_id,
      checkpoint_ns: last.checkpoint_ns,
      checkpoint_id: last.checkpoint_id,
    }
  }
  expect(pages.flat()).toEqual(ids)
  expect(pages.map((page) => page.length)).toEqual([3, 2])
})
