import { sql } from 'drizzle-orm'
import { integer, jsonb, primaryKey, text } from 'drizzle-orm/pg-core'
import { bytes, jsonText, timestamp } from '../columns.ts'
import { agent } from './schema.ts'

const now = () =>
  timestamp()
    .notNull()
    .default(sql`now()`)

/** Threads: when they changed, how long they are kept and what of them was deleted; migration 0040. */
export const threads = agent.table(
  'threads',
  {
    account_id: text().notNull(),
    thread_id: text().notNull(),
    ttl_seconds: integer(),
    deleted_through: text(),
    deleted_at: timestamp(),
    /** Checkpoints that came too late since then, the last first. */
    refused: text().array().notNull().default([]),
    created_at: now(),
    updated_at: now(),
  },
  (table) => [primaryKey({ columns: [table.account_id, table.thread_id] })],
)

/** How long an account keeps its threads after their last change. */
export const checkpointTtls = agent.table('checkpoint_ttls', {
  account_id: text().primaryKey(),
  ttl_seconds: integer().notNull(),
})

const ofThread = {
  account_id: text().notNull(),
  thread_id: text().notNull(),
  checkpoint_ns: text().notNull(),
}

/** Checkpoints; `channels` and `versions` are their channel_versions. */
export const checkpoints = agent.table(
  'checkpoints',
  {
    ...ofThread,
    checkpoint_id: text().notNull(),
    parent_checkpoint_id: text(),
    checkpoint: jsonText().notNull(),
    metadata: jsonText().notNull(),
    metadata_filter: jsonb().notNull(),
    channels: text().array().notNull(),
    versions: text().array().notNull(),
    run_id: text(),
    created_at: now(),
    /** The delta channels for which alone it stays; it is not listed then. */
    kept_for: text().array(),
  },
  (table) => [primaryKey({ columns: [table.account_id, table.thread_id, table.checkpoint_ns, table.checkpoint_id] })],
)

/** Values of channels, each written once for its version. */
export const checkpointBlobs = agent.table(
  'checkpoint_blobs',
  { ...ofThread, channel: text().notNull(), version: text().notNull(), type: text().notNull(), blob: bytes() },
  (table) => [
    primaryKey({ columns: [table.account_id, table.thread_id, table.checkpoint_ns, table.channel, table.version] }),
  ],
)

/** What tasks wrote before their step was done. */
export const checkpointWrites = agent.table(
  'checkpoint_writes',
  {
    ...ofThread,
    checkpoint_id: text().notNull(),
    task_id: text().notNull(),
    idx: integer().notNull(),
    channel: text().notNull(),
    type: text(),
    blob: bytes().notNull(),
    task_path: text().notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.account_id, table.thread_id, table.checkpoint_ns, table.checkpoint_id, table.task_id, table.idx],
    }),
  ],
)

/** The SQLSTATE of `agent.refuse`; the message is a code of the error catalogue. */
export const REFUSED = 'KL001'
