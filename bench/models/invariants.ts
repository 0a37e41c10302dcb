import { setTimeout as delay } from 'node:timers/promises'
import type { FaultStack } from './fault-stack.ts'

const CLEANED_WITHIN_MS = 30_000

type Row = {
  id: string
  status: string
  model_availability: string
  generation: number
  pending: number
  deployments: number
}

/** As the deployer names it. */
export const endpointName = (model_id: string): string => `keelson-${model_id.replace('model_', '')}`

/** The deployments of a model as one text: what nobody may change any more once they have ended. */
export const historyOf = async ({ db }: Pick<FaultStack, 'db'>, model_id: string): Promise<string> => {
  const [row] = await db.sql<[{ history: string }]>`
    select coalesce(string_agg(d::text, '|' order by id), '') as history from platform.deployments d where model_id = ${model_id}`
  return row.history
}

/** For a cleanup to end. */
export const untilNothingIsUnderWay = async ({ db }: Pick<FaultStack, 'db'>, model_id: string): Promise<void> => {
  const deadline = Date.now() + CLEANED_WITHIN_MS
  while (Date.now() < deadline) {
    const pending = await db.sql`select from platform.deployments where model_id = ${model_id} and finished_at is null`
    if (pending.length === 0) return
    await delay(50)
  }
}

/**
 * What is wrong about a model that nothing is under way for. Right is: one endpoint of the last generation for a model
 * that is ready, none for one that is gone or failed, no configuration sent over a later one, none created twice.
 */
export const wrongs = async ({ db, simulator }: FaultStack, model_id: string): Promise<string[]> => {
  const [row] = await db.sql<Row[]>`
    select m.id, m.status, m.model_availability, m.generation,
      (select count(*)::int from platform.deployments where model_id = m.id and finished_at is null) as pending,
      (select count(*)::int from platform.deployments where model_id = m.id and kind in ('create', 'update')) as deployments
    from platform.models m where id = ${model_id}`
  const name = endpointName(model_id)
  const endpoints = simulator.endpoints().filter((endpoint) => endpoint.name === name)
  const found: string[] = []
  // An update that failed may leave the old version serving.
  const expected = row?.status === 'ready' || (row && row.model_availability !== 'unavailable') ? 1 : 0
  if (endpoints.length !== expected) found.push(`${endpoints.length} endpoints instead of ${expected}`)
  for (const { generation, serving_generation } of endpoints) {
    const last = String(row?.generation)
    if (row?.status === 'ready' && generation !== last)
      found.push(`the endpoint is of generation ${generation}, not ${last}`)
    if (row?.status === 'ready' && serving_generation !== last) found.push(`generation ${serving_generation} serves`)
  }
  if (row && row.pending > 0) found.push(`${row.pending} deployments still under way`)
  if (row && row.deployments !== row.generation) found.push(`${row.deployments} deployments of ${row.generation}`)
  const sent = simulator.journal({ endpoint: name }).filter(({ committed, generation }) => committed && generation)
  const generations = sent.map(({ generation }) => Number(generation))
  if (generations.some((generation, at) => generation < (generations[at - 1] ?? 0)))
    found.push('a stale write took effect')
  const violations = simulator.violations().filter(({ endpoint }) => endpoint === name)
  return [...found, ...violations.map(({ kind, detail }) => `${kind}: ${detail}`)]
}
