import type { Call, History } from '../history.ts'
import { isLinearizable, type Rules } from '../linearizable.ts'
import { byTarget } from './area.ts'

/** A model as its readers see it; `null` where there is none. */
type Seen = { configuration: number; description: number | null; isDeploying: boolean } | null

type What = { operation: string; version: number; status: number | null; seen: Seen }

const isSame = (one: Seen, other: Seen): boolean => JSON.stringify(one) === JSON.stringify(other)

/** A deployment may end at any moment, unasked. */
const settled = (state: NonNullable<Seen>): NonNullable<Seen> => ({ ...state, isDeploying: false })

const RULES: Rules<Seen, What> = {
  initial: null,
  apply: (state, { operation, version, status, seen }) => {
    if (status === 404) return state === null ? [null] : []
    if (status === 409) return state === null ? [] : [state]
    if (status !== null) return [state]
    if (operation === 'create') {
      return state === null ? [{ configuration: version, description: null, isDeploying: true }] : []
    }
    if (state === null) return []
    if (operation === 'read') return [state, settled(state)].filter((next) => isSame(next, seen)).slice(0, 1)
    if (operation === 'configure') return [{ ...state, configuration: version, isDeploying: true }]
    if (operation === 'describe') return [{ ...settled(state), description: version }]
    return [null]
  },
}

type Model = {
  status: string
  model_metadata?: { version?: number }
  vendor_configuration: { labels?: { version: string }; model_infra?: { labels: { version: string } } }
}

const seenBy = ({ text }: Call): Seen => {
  const { status, model_metadata, vendor_configuration } = JSON.parse(text) as Model
  const labels = vendor_configuration.labels ?? vendor_configuration.model_infra?.labels
  return {
    configuration: Number(labels?.version.slice(1)),
    description: model_metadata?.version ?? null,
    isDeploying: status === 'deploying',
  }
}

const whatOf = (call: Call): What => ({
  operation: call.operation,
  version: call.input as number,
  status: call.outcome === 'failed' ? call.status : null,
  seen: call.operation === 'read' && call.outcome === 'ok' ? seenBy(call) : null,
})

/** Reads that nobody heard of say nothing, and strangers tell of another account. */
const isTelling = ({ operation, outcome }: Call): boolean =>
  operation !== 'find' && operation !== 'trespass' && !(operation === 'read' && outcome === 'unknown')

/** Whether what clients were told of each model can have happened in some order. */
export const checkModelHistories = (history: History): void => {
  for (const [target, calls] of byTarget(history.callsOf('models').filter(isTelling))) {
    const operations = calls.map((call) => ({ ...call, isKnown: call.outcome !== 'unknown', what: whatOf(call) }))
    if (isLinearizable(operations, RULES)) continue
    const told = operations.map(({ what, startedMs, endedMs, isKnown }) => ({ ...what, startedMs, endedMs, isKnown }))
    history.violate('inconsistent', 'models', `${target}: ${JSON.stringify(told)}`)
  }
}
