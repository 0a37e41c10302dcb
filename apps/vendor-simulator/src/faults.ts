import { z } from 'zod'
import { matchesGlob } from './glob.ts'
import { OPERATIONS, type OperationName } from './operations.ts'
import { createRandom, type Random } from './random.ts'

/** What a fault does; `before` the vendor acted, or `after` it, when the answer is what gets lost or spoilt. */
export const FAULT_KINDS = [
  'status',
  'rate_limit',
  'reset',
  'hang',
  'delay',
  'redirect',
  'trickle',
  'malformed_json',
  'unknown_status',
  'missing_fields',
  'extra_fields',
] as const

/** Kinds that need an answer to spoil, and so always come after. */
export const SPOILING = new Set<FaultKind>([
  'trickle',
  'malformed_json',
  'unknown_status',
  'missing_fields',
  'extra_fields',
])

const isKnown = (pattern: string) => Object.keys(OPERATIONS).some((name) => matchesGlob(pattern, name))

/** Faults disturb the wire, so their times are the machine's, not the vendor's. */
export const Fault = z.strictObject({
  kind: z.enum(FAULT_KINDS),
  /** An operation's name, `*` standing for anything: `llm.create`, `llm.*`, `*`. */
  operation: z.string().refine(isKnown, { error: 'matches no operation' }).default('*'),
  /** The endpoint's name, `*` standing for anything. */
  endpoint: z.string().default('*'),
  when: z.enum(['before', 'after']).default('before'),
  /** How often it strikes; `null` = for ever. */
  count: z.int().min(1).nullable().default(1),
  /** How many matching requests it lets pass first. */
  skip: z.int().min(0).default(0),
  probability: z.number().min(0).max(1).default(1),
  /** For `status`. */
  status: z.int().min(200).max(599).default(500),
  /** For `status`: the body, instead of the one that usually comes with it. */
  body: z.unknown().optional(),
  /** For `delay`: how long; for `trickle`: between two bytes. */
  interval_ms: z.number().min(0).max(3_600_000).default(100),
  /** For `status` and `rate_limit`: sent as `Retry-After`. */
  retry_after_seconds: z.number().min(0).optional(),
})

export type FaultKind = (typeof FAULT_KINDS)[number]
export type Fault = z.infer<typeof Fault> & { id: string; struck: number }
export type FaultInput = z.input<typeof Fault>

type Armed = { fault: Fault; random: Random; seen: number }

export type Faults = {
  /** @returns its id */
  add: (input: FaultInput) => string
  remove: (id: string) => boolean
  clear: () => void
  list: () => Fault[]
  /** The fault that strikes this request, if one does: the oldest that matches. */
  draw: (operation: OperationName, endpoint: string | null) => Fault | null
}

const matches = ({ operation, endpoint, count, struck }: Fault, name: OperationName, target: string | null) =>
  (count === null || struck < count) &&
  matchesGlob(operation, name) &&
  (endpoint === '*' || (target !== null && matchesGlob(endpoint, target)))

/** @param seed each fault draws from its own stream, so one more fault does not change what the others do */
export const createFaults = (seed: () => string): Faults => {
  const armed = new Map<string, Armed>()
  let added = 0
  const strikes = (it: Armed, operation: OperationName, endpoint: string | null): boolean => {
    if (!matches(it.fault, operation, endpoint)) return false
    it.seen += 1
    return it.seen > it.fault.skip && it.random.next() < it.fault.probability
  }
  return {
    add: (input) => {
      const id = `fault_${(added += 1)}`
      const parsed = Fault.parse(input)
      const fault = { ...parsed, when: SPOILING.has(parsed.kind) ? ('after' as const) : parsed.when, id, struck: 0 }
      armed.set(id, { fault, random: createRandom(`${seed()} ${id}`), seen: 0 })
      return id
    },
    remove: (id) => armed.delete(id),
    clear: () => {
      armed.clear()
      added = 0
    },
    list: () => [...armed.values()].map(({ fault }) => fault),
    draw: (operation, endpoint) => {
      const hit = [...armed.values()].find((it) => strikes(it, operation, endpoint))
      if (!hit) return null
      hit.fault.struck += 1
      return hit.fault
    },
  }
}
