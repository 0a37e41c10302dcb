import type { CheckpointCounts } from '@keelson/contracts/agent'
import type { Database } from '@keelson/database'
import type { z } from 'zod'
import { findDoomed, type Doomed, type Removal } from './doomed.ts'
import { countDoomed, findOrphanedBlobs, type OrphanedBlob } from './orphaned-blobs.ts'

export type Counts = z.infer<typeof CheckpointCounts>

/** So many checkpoints go under one lock. */
const PART = 50

const NOTHING: Counts = { checkpoints: 0, blobs: 0, writes: 0 }

const sum = (one: Counts, other: Counts): Counts => ({
  checkpoints: one.checkpoints + other.checkpoints,
  blobs: one.blobs + other.blobs,
  writes: one.writes + other.writes,
})

type Sql = Pick<Database, 'sql'>

type Removed = Counts & { marked: string | null }

/** Removes the checkpoints at positions `from` to `to`, from 1, and the blobs that go with them. */
const removePart = async (
  { sql }: Sql,
  { account_id, thread_id }: Removal,
  doomed: Doomed,
  blobs: readonly OrphanedBlob[],
  [from, to]: [number, number],
): Promise<Removed> => {
  const part = blobs.filter(({ position }) => position >= from && position <= to)
  const [removed] = await sql<[Removed]>`
    select checkpoints, blobs, writes, marked::text from agent.remove_checkpoints(
      ${account_id}, ${thread_id}, ${doomed.namespaces}::text[], ${doomed.ids}::text[], ${from}, ${to},
      ${part.map(({ checkpoint_ns }) => checkpoint_ns)}::text[], ${part.map(({ channel }) => channel)}::text[],
      ${part.map(({ version }) => version)}::text[], ${doomed.planned_at}::text::xid, ${doomed.marked_at}::text::timestamptz)`
  return removed
}

/** Removes as much of a plan as holds: nobody forked a checkpoint of it or removed something else meanwhile. */
const carryOut = async (db: Sql, removal: Removal, doomed: Doomed): Promise<Counts> => {
  const blobs = await findOrphanedBlobs(db, removal, doomed)
  let done = NOTHING
  let { marked_at } = doomed
  for (let from = 1; from <= doomed.ids.length; from += PART) {
    const range: [number, number] = [from, from + PART - 1]
    const { marked, ...counts } = await removePart(db, removal, { ...doomed, marked_at }, blobs, range)
    if (marked === null) break
    marked_at = marked
    done = sum(done, counts)
  }
  return done
}

/**
 * Removes all checkpoints of a thread that are not kept, in parts with a short lock each. When somebody forks a
 * checkpoint that was about to go, what may go is found anew.
 *
 * @returns what was removed until `deadline`, and whether that may not be all
 */
export const removeCheckpoints = async (
  db: Sql,
  removal: Removal,
  deadline: number,
): Promise<Counts & { has_more: boolean }> => {
  let removed = NOTHING
  for (let plan = 0; plan === 0 || performance.now() < deadline; plan += 1) {
    const doomed = await findDoomed(db, removal)
    if (doomed === null) return { ...removed, has_more: false }
    if (removal.dryRun) return { ...(await countDoomed(db, removal, doomed)), has_more: false }
    removed = sum(removed, await carryOut(db, removal, doomed))
  }
  return { ...removed, has_more: true }
}

/** What one request does before it says that there is more. */
const MAX_MS = 8_000

/** Removes checkpoints of one thread after the other, as far as one request goes. */
export const removeFromThreads = async (
  db: Sql,
  thread_ids: readonly string[],
  removal: Omit<Removal, 'thread_id'>,
): Promise<Counts & { has_more: boolean }> => {
  const deadline = performance.now() + MAX_MS
  let removed = { ...NOTHING, has_more: false }
  for (const thread_id of thread_ids) {
    if (removed.has_more || performance.now() > deadline) return { ...removed, has_more: true }
    const { has_more, ...counts } = await removeCheckpoints(db, { ...removal, thread_id }, deadline)
    removed = { ...sum(removed, counts), has_more }
  }
  return removed
}
