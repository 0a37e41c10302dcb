import { matchesGlob } from './glob.ts'

/** What a client of the vendor must never do, seen from the vendor's side. */
export const VIOLATIONS = ['overlapping_write', 'duplicate_create', 'secret_in_labels', 'secret_in_metadata'] as const
export type ViolationKind = (typeof VIOLATIONS)[number]

export type Violation = {
  kind: ViolationKind
  at_ms: number
  /** The journal entry of the request. */
  seq: number
  endpoint: string
  generation: string | null
  /** Never holds the secret's value. */
  detail: string
}

export type Request = { seq: number; at_ms: number; endpoint: string; generation: string | null }

export type Invariants = {
  violations: () => Violation[]
  /** Call when a write was accepted while another operation was under way. */
  overlapped: (request: Request, detail: string) => void
  /** Call for every create that took effect. */
  created: (request: Request) => void
  /** Call with what will be readable by everybody who may list endpoints. */
  published: (request: Request, where: 'labels' | 'metadata', values: unknown) => void
  /** From now on this value may stand nowhere but in environment variables and callback credentials. */
  watchSecret: (value: string) => void
  clear: () => void
}

const VIOLATIONS_KEPT = 1_000
const SECRET_KEYS = [
  '*secret*',
  '*password*',
  '*passwd*',
  '*api_key*',
  '*apikey*',
  '*access_key*',
  '*private_key*',
  '*token',
]
const SECRET_VALUES =
  /^(sk-|ghp_|github_pat_|xox[abp]-|AKIA|hf_[A-Za-z0-9]{20}|eyJ[\w-]+\.|-----BEGIN |kl(user|svc|agent)_)/

const leaves = (value: unknown, path: string): [path: string, text: string][] => {
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, inner]) => leaves(inner, path ? `${path}.${key}` : key))
  return typeof value === 'string' ? [[path, value]] : []
}

const suspicious = (path: string, text: string, watched: ReadonlySet<string>): string | null => {
  if ([...watched].some((secret) => text.includes(secret))) return `${path} holds a watched secret`
  if (SECRET_VALUES.test(text)) return `${path} looks like a key`
  const key = path.toLowerCase().replaceAll('-', '_')
  return text !== '' && SECRET_KEYS.some((pattern) => matchesGlob(pattern, key))
    ? `${path} is named like a secret`
    : null
}

export const createInvariants = (): Invariants => {
  const watched = new Set<string>()
  const creates = new Map<string, number>()
  let violations: Violation[] = []
  const report = (kind: ViolationKind, { seq, at_ms, endpoint, generation }: Request, detail: string) => {
    if (violations.length < VIOLATIONS_KEPT) violations.push({ kind, at_ms, seq, endpoint, generation, detail })
  }
  return {
    violations: () => [...violations],
    overlapped: (request, detail) => report('overlapping_write', request, detail),
    created: (request) => {
      if (request.generation === null) return
      const key = JSON.stringify([request.endpoint, request.generation])
      const earlier = creates.get(key)
      if (earlier !== undefined) report('duplicate_create', request, `also created by request ${earlier}`)
      else creates.set(key, request.seq)
    },
    published: (request, where, values) => {
      for (const [path, text] of leaves(values, '')) {
        const detail = suspicious(path, text, watched)
        if (detail) report(`secret_in_${where}`, request, detail)
      }
    },
    watchSecret: (value) => void watched.add(value),
    clear: () => {
      watched.clear()
      creates.clear()
      violations = []
    },
  }
}
