import { setTimeout as delay } from 'node:timers/promises'
import type { FaultStack } from './fault-stack.ts'
import { insistentClient } from './insistent-client.ts'
import { endpointName, wrongs } from './invariants.ts'
import { SETTLED_WITHIN_MS, type Promised } from './soak-clients.ts'

export type Problem = { kind: 'lost' | 'doubled' | 'stuck'; what: string }

type Pending = { id: string; kind: string; phase: string }

export const underWay = ({ db }: FaultStack): Promise<Pending[]> => db.sql<Pending[]>`
  select id, kind, phase from platform.deployments where finished_at is null`

const stuck = async (stack: FaultStack, withinMs: number): Promise<Problem[]> => {
  const deadline = Date.now() + withinMs
  for (;;) {
    const pending = await underWay(stack)
    if (pending.length === 0) return []
    if (Date.now() > deadline)
      return pending.map(({ id, kind, phase }) => ({ kind: 'stuck', what: `${id} ${kind} ${phase}` }))
    await delay(200)
  }
}

/** Everything that is not as promised, once nothing happens any more. */
export const problemsOf = async (stack: FaultStack, promised: Promised, quietWithinMs: number): Promise<Problem[]> => {
  const client = insistentClient(stack)
  const found = await stuck(stack, quietWithinMs)
  for (const [model_id, fate] of promised) {
    const model = await client.settled(model_id, SETTLED_WITHIN_MS)
    const status = model?.status ?? 'gone'
    const told = `${model_id} is ${status}: ${model?.status_reason ?? ''}`
    if (status === 'deploying') found.push({ kind: 'stuck', what: told })
    else if (status === 'gone' ? fate === 'kept' : status !== 'ready') found.push({ kind: 'lost', what: told })
    else
      found.push(
        ...(await wrongs(stack, model_id)).map((what) => ({ kind: 'doubled', what: `${model_id} ${what}` }) as const),
      )
  }
  const serving = await stack.db.sql<{ id: string }[]>`
    select id from platform.models where status = 'ready' or model_availability <> 'unavailable'`
  const { endpoints } = stack.simulator.orphans(serving.map(({ id }) => endpointName(id)))
  return [...found, ...endpoints.map((name) => ({ kind: 'doubled', what: `nobody needs ${name}` }) as const)]
}
