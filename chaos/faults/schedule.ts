import type { Random } from '../random.ts'
import type { Toxic } from '../stack/proxy.ts'

export type Fault =
  /** Hits the first of them that is up. */
  | { kind: 'kill'; victims: readonly string[] }
  | { kind: 'kill backend'; index: number }
  | { kind: 'freeze'; victim: string; ms: number }
  | { kind: 'empty redis' }
  | { kind: 'network'; link: string; toxic: Toxic; ms: number }
  | { kind: 'reset'; link: string }
  | { kind: 'vendor'; fault: VendorFault }

export type VendorFault = {
  kind: 'status' | 'rate_limit' | 'reset' | 'hang' | 'delay' | 'trickle' | 'malformed_json' | 'missing_fields'
  when: 'before' | 'after'
  operation: string
  count: number
  status: number
  interval_ms: number
}

export const FAULT_KINDS = ['kill', 'kill backend', 'freeze', 'empty redis', 'network', 'reset', 'vendor'] as const
export type FaultKind = (typeof FAULT_KINDS)[number]

/** How often which fault, who can be hit, and how long a freeze takes at most. */
export type Mix = {
  weights: Partial<Record<FaultKind, number>>
  victims: readonly string[]
  links: readonly string[]
  everyMs: [low: number, high: number]
  freezeMs: [low: number, high: number]
  vendorFault: (random: Random) => VendorFault
}

/** Shorter than the vendor's settling time, as the deployer is promised. */
const NETWORK_MS = [200, 2_500] as const

const drawToxic = (random: Random): Toxic => {
  const kind = random.pick(['latency', 'slicing', 'black hole'] as const)
  if (kind === 'latency') return { kind, ms: Math.round(random.between(20, 600)) }
  if (kind === 'slicing') return { kind, bytes: 1 + random.int(64), pauseMs: random.int(3) }
  return { kind }
}

export const anyVendorFault = (random: Random): VendorFault => ({
  kind: random.pick(['status', 'rate_limit', 'reset', 'hang', 'delay', 'trickle', 'malformed_json', 'missing_fields']),
  when: random.pick(['before', 'after']),
  operation: random.pick(['llm.*', 'endpoints.*', 'bundles.*', '*']),
  count: 1 + random.int(3),
  status: random.pick([500, 502, 503]),
  interval_ms: Math.round(random.between(50, 1_000)),
})

const drawKind = (random: Random, weights: Mix['weights']): FaultKind => {
  const entries = Object.entries(weights) as [FaultKind, number][]
  let left = random.next() * entries.reduce((sum, [, weight]) => sum + weight, 0)
  for (const [kind, weight] of entries) {
    left -= weight
    if (left < 0) return kind
  }
  return entries.at(-1)![0]
}

/** The next fault. Everything about it is drawn here, so that the seed alone decides the schedule. */
export const drawFault = (random: Random, mix: Mix): Fault => {
  const kind = drawKind(random, mix.weights)
  if (kind === 'kill') {
    const first = random.int(mix.victims.length)
    return { kind, victims: [...mix.victims.slice(first), ...mix.victims.slice(0, first)] }
  }
  if (kind === 'kill backend') return { kind, index: random.int(1000) }
  if (kind === 'freeze') return { kind, victim: random.pick(mix.victims), ms: random.between(...mix.freezeMs) }
  if (kind === 'network') {
    return { kind, link: random.pick(mix.links), toxic: drawToxic(random), ms: random.between(...NETWORK_MS) }
  }
  if (kind === 'reset') return { kind, link: random.pick(mix.links) }
  if (kind === 'vendor') return { kind, fault: mix.vendorFault(random) }
  return { kind }
}
