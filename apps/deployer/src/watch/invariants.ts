import type { Database } from '@keelson/database'

type Sql = Database['sql']

/** What is so of every model and deployment, by what to call its contrary. Each finds the rows that break it. */
const BROKEN = {
  deploying_without_deployment: (sql: Sql) => sql`
    from platform.models m where m.status = 'deploying' and not exists (
      select from platform.deployments d
      where d.account_id = m.account_id and d.model_id = m.id and d.finished_at is null)`,
  ready_without_success: (sql: Sql) => sql`
    from platform.models m where m.status = 'ready' and m.generation > 0 and not exists (
      select from platform.deployments d
      where d.account_id = m.account_id and d.model_id = m.id and d.generation = m.generation and d.phase = 'succeeded')`,
  deployment_without_end: (sql: Sql) => sql`
    from platform.deployments d where d.finished_at is null and d.deadline < now() - interval '1 hour'`,
} as const

export type Invariant = keyof typeof BROKEN

export const INVARIANTS = Object.keys(BROKEN) as Invariant[]

export type InvariantOptions = { db: Pick<Database, 'sql'>; onBroken: (invariant: Invariant, count: number) => void }

/** Looks whether the tables hold what the code promises, and tells of each promise that is broken, and how often. */
export const checkInvariants = async ({ db: { sql }, onBroken }: InvariantOptions): Promise<boolean> => {
  for (const invariant of INVARIANTS) {
    const [found] = await sql<{ count: number }[]>`select count(*)::int as count ${BROKEN[invariant](sql)}`
    if (found && found.count > 0) onBroken(invariant, found.count)
  }
  return false
}
