/** `unknown`: it may have taken effect, may yet, or may never. */
export type Outcome = 'ok' | 'failed' | 'unknown'

export const AREAS = ['credentials', 'models', 'spans', 'checkpoints', 'webhooks'] as const
export type AreaName = (typeof AREAS)[number]

/** One call of a client, and what became of it. Times are milliseconds of one monotonic clock. */
export type Call = {
  area: AreaName
  account: string
  operation: string
  /** What the call is about, such as a model; calls about different things do not depend on each other. */
  target: string
  write: boolean
  input: unknown
  startedMs: number
  endedMs: number
  outcome: Outcome
  /** `null` when no answer came. */
  status: number | null
  text: string
}

export const VIOLATIONS = ['lost', 'doubled', 'stuck', 'foreign', 'inconsistent', 'unexpected', 'crashed'] as const
export type Violation = { kind: (typeof VIOLATIONS)[number]; area: AreaName | 'services'; detail: string }

export type History = {
  calls: Call[]
  violations: Violation[]
  violate: (kind: Violation['kind'], area: Violation['area'], detail: string) => void
  callsOf: (area: AreaName) => Call[]
}

export const createHistory = (): History => {
  const calls: Call[] = []
  const violations: Violation[] = []
  return {
    calls,
    violations,
    violate: (kind, area, detail) => void violations.push({ kind, area, detail: detail.slice(0, 2000) }),
    callsOf: (area) => calls.filter((call) => call.area === area),
  }
}
