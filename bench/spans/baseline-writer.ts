import type { Database } from '@keelson/database'
import type { SpanWriter } from '@keelson/agent-api/spans/span-writer'
import type { SpanWrite, Written } from '@keelson/agent-api/spans/write-spans'

/** The writer to compare with: a plain statement of its own for every request, as most services have it. */
export const baselineWriter = ({ sql }: Pick<Database, 'sql'>): SpanWriter => {
  const create = async (write: SpanWrite): Promise<Written> => {
    const { account_id, id, trace_id, parent_id, task_id, name, start_time, end_time, input, output, data } = write
    const inserted = await sql`
      insert into agent.spans
        (account_id, id, trace_id, parent_id, task_id, name, start_time, end_time, input, output, data)
      values (${account_id}, ${id}, ${trace_id}, ${parent_id}, ${task_id}, ${name}, ${start_time}, ${end_time},
        ${input}, ${output}, ${data})
      on conflict (account_id, id) do nothing`
    return inserted.count === 1 ? (write as Written) : null
  }

  /** Reads the span, changes it in memory and writes it back, in a transaction that holds its lock. */
  const patch = (write: SpanWrite): Promise<Written> =>
    sql.begin(async (tx) => {
      const { account_id, id } = write
      const [stored] = await tx<SpanWrite[]>`
        select * from agent.spans where account_id = ${account_id} and id = ${id} for update`
      if (!stored) return null
      const given = Object.entries(write).filter(([, value]) => value !== null)
      const next = { ...stored, ...Object.fromEntries(given) } as SpanWrite
      await tx`
        update agent.spans set trace_id = ${next.trace_id}, parent_id = ${next.parent_id}, task_id = ${next.task_id},
          name = ${next.name}, start_time = ${next.start_time}, end_time = ${next.end_time},
          input = ${next.input}, output = ${next.output}, data = ${next.data}
        where account_id = ${account_id} and id = ${id}`
      return next as Written
    })

  return { create, put: create, patch, queuedBytes: 0, drain: async () => {} }
}
