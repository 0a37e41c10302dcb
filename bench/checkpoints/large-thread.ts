import type { KeelsonSaver } from '@keelson/langgraph-checkpoint'
import { emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint'
import type { Sql } from '../harness/postgres.ts'

type Stage = { sql: Sql; account_id: string; saver: KeelsonSaver; checkpoints: number }

/** A thread of many checkpoints with four blobs and three writes each. */
export const seedLargeThread = async ({ sql, account_id, checkpoints }: Stage, thread_id: string) => {
  await sql`
    insert into agent.checkpoints (account_id, thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata, metadata_filter, channels, versions)
    select ${account_id}, ${thread_id}, '', lpad(n::text, 6, '0'), lpad((n - 1)::text, 6, '0'), '{"v":4}', '{}', '{}',
      '{a,b,c,d}', array[n::text, n::text, n::text, n::text] from generate_series(1, ${checkpoints}::integer) as n`
  await sql`
    insert into agent.checkpoint_blobs (account_id, thread_id, checkpoint_ns, channel, version, type, blob)
    select ${account_id}, ${thread_id}, '', channel, n::text, 'json', convert_to(repeat(n::text, 100), 'utf8')
    from generate_series(1, ${checkpoints}::integer) as n, unnest('{a,b,c,d}'::text[]) as channel`
  await sql`
    insert into agent.checkpoint_writes (account_id, thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob, task_path)
    select ${account_id}, ${thread_id}, '', lpad(n::text, 6, '0'), 't', idx, 'a', 'json', '"x"', ''
    from generate_series(1, ${checkpoints}::integer) as n, generate_series(0, 2) as idx`
}

/** Bytes of a state that all checkpoints of {@link seedFullThread} name: enough that a list of them is far beyond a page. */
const STATE_BYTES = 65_536

/** A thread whose full tuples weigh more together than any process should hold. */
export const seedFullThread = async (stage: Stage, thread_id: string): Promise<void> => {
  await seedLargeThread(stage, thread_id)
  const { sql, account_id } = stage
  await sql`
    update agent.checkpoints set channels = channels || '{state}'::text[], versions = versions || '{1}'::text[]
    where account_id = ${account_id} and thread_id = ${thread_id}`
  await sql`
    insert into agent.checkpoint_blobs (account_id, thread_id, checkpoint_ns, channel, version, type, blob)
    values (${account_id}, ${thread_id}, '', 'state', '1', 'bytes', convert_to(repeat('keelson ', ${STATE_BYTES / 8}::integer), 'utf8'))`
}

/** Bytes of each checkpoint of {@link seedHeavyThread}, which no compression makes less. */
const TEXT_BYTES = 32_768

/** A thread of checkpoints that are large themselves. */
export const seedHeavyThread = async (stage: Stage, thread_id: string): Promise<void> => {
  await seedLargeThread(stage, thread_id)
  const { sql, account_id } = stage
  await sql`
    update agent.checkpoints set checkpoint = text
    from (select string_agg(md5(part::text), '') as text from generate_series(1, ${TEXT_BYTES / 32}::integer) as part) as one
    where account_id = ${account_id} and thread_id = ${thread_id}`
}

/** How long the slowest put to a thread took while `work` was done to it: it waits for whoever holds the thread. */
export const longestPutMs = async (
  saver: KeelsonSaver,
  thread_id: string,
  work: (thread_id: string) => Promise<unknown>,
): Promise<number> => {
  const stop = new AbortController()
  const putAgainAndAgain = async () => {
    let longestMs = 0
    for (let step = 0; !stop.signal.aborted; step += 1) {
      const started = performance.now()
      const config = { configurable: { thread_id, checkpoint_ns: '' } }
      await saver.put(config, { ...emptyCheckpoint(), id: uuid6(step) }, { source: 'loop', step, parents: {} }, {})
      longestMs = Math.max(longestMs, performance.now() - started)
    }
    return longestMs
  }
  const putting = putAgainAndAgain()
  await work(thread_id)
  stop.abort()
  return await putting
}
