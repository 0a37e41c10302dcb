import type { ModelAvailability, ModelStatus } from '@keelson/database/platform'
import type { Change, Claim } from '../deployments/deployment.ts'

export type Row = Pick<
  Claim,
  'id' | 'kind' | 'generation' | 'reason_code' | 'status_message' | 'attempts' | 'fence'
> & {
  phase: Change['phase']
  lease_until: number
  claimed_at: number | null
  next_at: number
  unsettled_at: number | null
  created_at: number
  accepted_at: number | null
  deadline: number | null
  finished_at: number | null
}

export type Model = {
  status: ModelStatus
  model_availability: ModelAvailability
  generation: number
  removed: boolean
}

const SUPERSEDED = { phase: 'superseded', reason_code: 'superseded', status_message: null } as const

/** One model and its deployments in memory, under the constraints of the real tables. */
export const simulatedTables = (now: () => number, onDue: (id: string, at: number) => void) => {
  const rows: Row[] = []
  const statuses: ModelStatus[] = []
  const model: Model = { status: 'failed', model_availability: 'unavailable', generation: 0, removed: false }

  const insert = (kind: Claim['kind']): void => {
    const id = `deploy_${rows.length + 1}`
    const fresh = { phase: 'queued', reason_code: null, status_message: null, attempts: 0, fence: 0 } as const
    const times = { claimed_at: null, unsettled_at: null, accepted_at: null, deadline: null, finished_at: null }
    const { generation } = model
    rows.push({ id, kind, generation, ...fresh, ...times, lease_until: 0, next_at: now(), created_at: now() })
    onDue(id, now())
  }

  /** What the API's transaction does; `false` when a constraint refuses it. */
  const accept = (kind: 'create' | 'update' | 'delete'): boolean => {
    const active = rows.find(({ finished_at }) => finished_at === null)
    if (model.removed || (kind === 'create') !== (model.generation === 0)) return false
    if (active && active.kind !== 'cleanup') return false
    if (active) Object.assign(active, { ...SUPERSEDED, finished_at: now(), lease_until: 0 })
    if (kind !== 'delete') {
      model.generation += 1
      model.status = 'deploying'
      statuses.push('deploying')
    }
    insert(kind)
    return true
  }

  return { rows, model, statuses, insert, accept }
}

export type SimulatedTables = ReturnType<typeof simulatedTables>
