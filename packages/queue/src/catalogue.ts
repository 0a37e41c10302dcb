import { z } from 'zod'

/** An id and nothing else fits: no text of a customer, no secret, no JSON. */
const Id = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/)

type JobDefinition = {
  /** What a job carries: the id of a row, and its account where that makes the row cheaper to find. */
  schema: z.ZodObject
  options: {
    /** Handlers of one worker at a time. */
    concurrency: number
    /** A worker that has not renewed its claim for this long counts as dead, and another one gets the job. */
    lockMs: number
  }
}

/** Every job there is. The key is also the name of the queue. A job is a hint to look at a row; the row is the truth. */
export const catalogue = {
  advance_deployment: {
    schema: z.object({ deployment_id: Id, account_id: Id.optional() }),
    options: { concurrency: 16, lockMs: 30_000 },
  },
  deliver_webhook: {
    schema: z.object({ delivery_id: Id, account_id: Id.optional() }),
    options: { concurrency: 16, lockMs: 30_000 },
  },
} as const satisfies Record<string, JobDefinition>

export type JobName = keyof typeof catalogue
export type JobPayload<Name extends JobName> = z.output<(typeof catalogue)[Name]['schema']>
