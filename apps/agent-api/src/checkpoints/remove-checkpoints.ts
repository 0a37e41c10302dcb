import type { CheckpointCounts } from '@keelson/contracts/agent'
import type { Database } from '@keelson/database'
import { setTimeout as delay } from 'node:timers/promises'
import type { z } from 'zod'
import { findDoomed, MAX_DOOMED, type Doomed, type Removal } from './doomed.ts'
import { MAX_LOCKED_BYTES, MAX_LOCKED_ROWS, withoutFlush } from './lock-limits.ts'
import { countDoomed, findOrphanedBlobs, type OrphanedBlob } from './orphaned-blobs.ts'

export type Counts = z.infer<typeof CheckpointCounts>

/** So many checkpoints go under one lock, as long as they are small. */
const MAX_LOCKED_CHECKPOINTS = 50

const NOTHING: Counts = { checkpoints: 0, blobs: 0, writes: 0 }

const sum = (one: Counts, other: Counts): Counts => ({
  checkpoints: one.checkpoints + other.checkpoints,
  blobs: one.blobs + other.blobs,
  writes: one.writes + other.writes,
})

type Sql = Pick<Database, 'sql'>

/** What only the checkpoints at positions `from` to `to`, from 1, have beside their writes. */
type Part = { from: number; to: number; blobs: readonly OrphanedBlob[] }

/** As many checkpoints to a part as a short lock allows, at least one. */
const partsOf = ({ bytes }: Doomed, blobs: readonly OrphanedBlob[]): Part[] => {
  const parts: Part[] = []
  for (let from = 1; from <= bytes.length;) {
    let to = from
    let total = bytes[from - 1]!
    while (to < bytes.length && to - from + 1 < MAX_LOCKED_CHECKPOINTS && total + bytes[to]! <= MAX_LOCKED_BYTES) {
      total += bytes[to]!
      to += 1
    }
    parts.push({ from, to, blobs: blobs.filter(({ position }) => position >= from && position <= to) })
    from = to + 1
  }
  return parts
}

const keysOf = ({ sql }: Sql, blobs: readonly OrphanedBlob[]) => sql`
  ${blobs.map(({ checkpoint_ns }) => checkpoint_ns)}::text[], ${blobs.map(({ channel }) => channel)}::text[],
  ${blobs.map(({ version }) => version)}::text[]`

type Orphans = Omit<Counts, 'checkpoints'> & { is_left: boolean }

/** Removes the rest of what the checkpoints of a part had, now that they are gone. */
const removeOrphans = async (
  db: Sql,
  { account_id, thread_id }: Removal,
  doomed: Doomed,
  part: Part,
): Promise<Counts> => {
  const { sql } = db
  const [namespaces, ids] = [doomed.namespaces, doomed.ids].map((all) => all.slice(part.from - 1, part.to))
  let removed = NOTHING
  for (let isLeft = true; isLeft;) {
    const [{ is_left, blobs, writes }] = await sql<[Orphans]>`
      select blobs, writes, is_left, ${withoutFlush(db)} from agent.remove_orphans(
        ${account_id}, ${thread_id}, ${namespaces!}::text[], ${ids!}::text[], ${keysOf(db, part.blobs)},
        ${doomed.planned_at}, ${MAX_LOCKED_ROWS}, ${MAX_LOCKED_BYTES})`
    removed = sum(removed, { checkpoints: 0, blobs, writes })
    isLeft = is_left
  }
  return removed
}

type Removed = Orphans & { checkpoints: number; marked: string | null }

/** Removes the checkpoints of a part, and then what only they had; of that, a part may leave some. */
const removePart = async (
  db: Sql,
  { account_id, thread_id }: Removal,
  doomed: Doomed,
  part: Part,
): Promise<Removed> => {
  const [removed] = await db.sql<[Removed]>`
    select checkpoints, blobs, writes, is_left, marked::text from agent.remove_checkpoints(
      ${account_id}, ${thread_id}, ${doomed.namespaces}::text[], ${doomed.ids}::text[], ${part.from}, ${part.to},
      ${keysOf(db, part.blobs)}, ${doomed.planned_at}, ${doomed.marked_at}::text::timestamptz,
      ${MAX_LOCKED_ROWS}, ${MAX_LOCKED_BYTES})`
  return removed
}

/** Keeps ancestors for delta channels only: when that could be done, tells when something was last removed. */
const keepAncestors = async (
  { sql }: Sql,
  { account_id, thread_id }: Removal,
  doomed: Doomed,
): Promise<Pick<Doomed, 'marked_at'> | null> => {
  const { ancestor_namespaces, ancestor_ids, ancestor_channels, planned_at } = doomed
  const leaving = sql`
    ${[...doomed.namespaces, ...ancestor_namespaces]}::text[], ${[...doomed.ids, ...ancestor_ids]}::text[]`
  let { marked_at } = doomed
  for (let from = 0; from < ancestor_ids.length; from += MAX_LOCKED_ROWS) {
    const [namespaces, ids, channels] = [ancestor_namespaces, ancestor_ids, ancestor_channels].map((texts) =>
      texts.slice(from, from + MAX_LOCKED_ROWS),
    )
    const [{ marked }] = await sql<[{ marked: string | null }]>`
      select marked::text from agent.keep_for_deltas(${account_id}, ${thread_id}, ${namespaces!}::text[], ${ids!}::text[],
        ${channels!}::text[], ${leaving}, ${planned_at}, ${marked_at}::text::timestamptz) as marked`
    if (marked === null) return null
    marked_at = marked
  }
  return { marked_at }
}

/** What only so many checkpoints have is looked for at once. */
const MAX_SEARCHED = 500

const slicesOf = (doomed: Doomed): Doomed[] => {
  const slices = Array.from({ length: Math.ceil(doomed.ids.length / MAX_SEARCHED) }, (_, slice) => slice * MAX_SEARCHED)
  return slices.map((from) => {
    const slice = <Value>(values: Value[]) => values.slice(from, from + MAX_SEARCHED)
    return { ...doomed, namespaces: slice(doomed.namespaces), ids: slice(doomed.ids), bytes: slice(doomed.bytes) }
  })
}

/**
 * Carries out as much of a plan as holds, until `deadline`: nobody forked a checkpoint of it or removed something else
 * meanwhile.
 *
 * @returns what was removed, and whether that is all of the plan
 */
export const carryOut = async (
  db: Sql,
  removal: Removal,
  doomed: Doomed,
  deadline = Infinity,
): Promise<Counts & { is_all: boolean }> => {
  const kept = await keepAncestors(db, removal, doomed)
  if (kept === null) return { ...NOTHING, is_all: false }
  let done = NOTHING
  let { marked_at } = kept
  for (const [index, slice] of slicesOf(doomed).entries()) {
    if (index > 0 && performance.now() > deadline) return { ...done, is_all: false }
    const blobs = await findOrphanedBlobs(db, removal, slice)
    for (const part of partsOf(slice, blobs)) {
      const { marked, is_left, ...counts } = await removePart(db, removal, { ...slice, marked_at }, part)
      if (marked === null) return { ...done, is_all: false }
      marked_at = marked
      done = sum(done, counts)
      if (is_left) done = sum(done, await removeOrphans(db, removal, slice, part))
    }
  }
  return { ...done, is_all: true }
}

/** Before what may go is found anew because none of it could be removed. */
const PAUSE_MS = 50

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
    const { is_all, ...counts } = await carryOut(db, removal, doomed, deadline)
    removed = sum(removed, counts)
    // A plan that holds is what a dry run tells; another would find that some of what stays for others is needed no more.
    if (is_all && doomed.ids.length < MAX_DOOMED) return { ...removed, has_more: false }
    if (counts.checkpoints === 0) await delay(PAUSE_MS)
  }
  return { ...removed, has_more: true }
}

/** What one request does before it says that there is more. */
const MAX_MS = 8_000

/** Removes all checkpoints of a thread but the latest of each namespace, as far as one request goes. */
export const removeHistory = async (db: Sql, account_id: string, thread_id: string): Promise<void> => {
  await removeCheckpoints(db, { account_id, thread_id, isKept: db.sql`rank = 1` }, performance.now() + MAX_MS)
}

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
