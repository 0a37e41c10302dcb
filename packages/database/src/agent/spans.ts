import { sql } from 'drizzle-orm'
import { integer, primaryKey, text } from 'drizzle-orm/pg-core'
import { jsonText, timestamp } from '../columns.ts'
import { agent } from './schema.ts'

/** Spans; migration 0030. `data` is a log of JSON texts that patches append to; the sizes are in bytes. */
export const spans = agent.table(
  'spans',
  {
    account_id: text().notNull(),
    id: text().notNull(),
    trace_id: text().notNull(),
    parent_id: text(),
    task_id: text(),
    name: text().notNull(),
    start_time: timestamp().notNull(),
    end_time: timestamp(),
    input: jsonText(),
    output: jsonText(),
    data: text(),
    input_bytes: integer().generatedAlwaysAs(sql`octet_length(input)`),
    output_bytes: integer().generatedAlwaysAs(sql`octet_length(output)`),
    data_bytes: integer().generatedAlwaysAs(sql`octet_length(data)`),
    created_at: timestamp()
      .notNull()
      .default(sql`now()`),
  },
  (table) => [primaryKey({ columns: [table.account_id, table.id] })],
)
