import type { Database } from '@keelson/database'
import type { History } from './history.ts'

// Every change of a deployment and of a model's status, written by the database itself.
const SCHEMA = `
  create schema chaos;
  create table chaos.steps (
    seq bigint generated always as identity primary key, deployment text not null, was_fence bigint not null,
    fence bigint not null, was_finished boolean not null, phase text not null, reason text, configuration text not null);
  create table chaos.statuses (
    seq bigint generated always as identity primary key, model text not null, was text not null, became text not null);
  create function chaos.note_step() returns trigger language plpgsql security definer as $$ begin
    insert into chaos.steps (deployment, was_fence, fence, was_finished, phase, reason, configuration)
      values (new.id, old.fence, new.fence, old.finished_at is not null, new.phase, new.reason_code, new.configuration);
    return null;
  end $$;
  create function chaos.note_status() returns trigger language plpgsql security definer as $$ begin
    insert into chaos.statuses (model, was, became) values (new.id, old.status, new.status);
    return null;
  end $$;
  create trigger note_step after update on platform.deployments for each row execute function chaos.note_step();
  create trigger note_status after update of status on platform.models
    for each row when (old.status <> new.status) execute function chaos.note_status();`

export const installDeploymentLog = ({ sql }: Pick<Database, 'sql'>) => sql.unsafe(SCHEMA)

type Step = {
  deployment: string
  was_fence: number
  fence: number
  was_finished: boolean
  phase: string
  reason: string | null
  configuration: string
}

/** Between two claims there is at most one result, and after the end nothing. */
const doubledSteps = (steps: readonly Step[]): string[] => {
  const recorded = new Set<string>()
  return steps.flatMap(({ deployment, was_fence, fence, was_finished, phase }) => {
    if (was_finished) return [`${deployment} changed to ${phase} after its end`]
    const isClaim = fence > was_fence
    const claim = `${deployment} ${fence}`
    if (isClaim || phase === 'superseded') return []
    if (recorded.has(claim)) return [`${deployment}: claim ${fence} came to a second result, ${phase}`]
    recorded.add(claim)
    return []
  })
}

/** The vendor takes every configuration, and builds those that do not ask for a failure. */
const isLie = ({ phase, reason, configuration }: Step): boolean =>
  phase === 'failed' &&
  reason !== null &&
  (['vendor_rejected', 'endpoint_missing', 'endpoint_overwritten'].includes(reason) ||
    (reason === 'build_failed' && !configuration.includes('fail')))

/** What the database saw happen to deployments and models that must never happen. */
export const checkDeploymentLog = async ({ sql }: Pick<Database, 'sql'>, history: History): Promise<number> => {
  const steps = await sql<Step[]>`select * from chaos.steps order by seq`
  for (const detail of doubledSteps(steps)) history.violate('doubled', 'models', detail)
  for (const { deployment, reason } of steps.filter(isLie)) {
    history.violate('inconsistent', 'models', `${deployment} failed for a reason that is not so: ${reason}`)
  }
  const jumps = await sql<{ model: string; was: string; became: string }[]>`
    select model, was, became from chaos.statuses where was <> 'deploying' and became <> 'deploying'`
  for (const { model, was, became } of jumps) {
    history.violate('inconsistent', 'models', `${model} went from ${was} to ${became} without a deployment`)
  }
  return steps.length
}
