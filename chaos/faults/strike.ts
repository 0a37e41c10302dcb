import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '../random.ts'
import type { Stack } from '../stack/stack.ts'
import { drawFault, type Fault, type Mix } from './schedule.ts'

/** What struck, and how often. */
export type Strikes = Record<string, number>

const kill = async ({ victims }: Stack, candidates: readonly string[]): Promise<string | null> => {
  const name = candidates.find((one) => victims.get(one)?.isUp())
  if (name === undefined) return null
  await victims.get(name)?.kill()
  return `kill ${name}`
}

const freeze = async ({ victims }: Stack, name: string, ms: number): Promise<string | null> => {
  const victim = victims.get(name)
  if (!victim?.isUp()) return null
  await victim.freeze(ms)
  return `freeze ${name}`
}

const onLink = async (stack: Stack, fault: Fault & { kind: 'network' | 'reset' }): Promise<string | null> => {
  const link = stack.links.get(fault.link)
  if (fault.kind === 'reset') {
    link?.reset()
    return 'network reset'
  }
  link?.set(fault.toxic)
  await delay(fault.ms)
  link?.set(null)
  return `network ${fault.toxic.kind}`
}

/** Resolves when the fault is over, with its name, or `null` when there was nothing to hit. */
const strike = async (stack: Stack, fault: Fault): Promise<string | null> => {
  if (fault.kind === 'kill') return kill(stack, fault.victims)
  if (fault.kind === 'freeze') return freeze(stack, fault.victim, fault.ms)
  if (fault.kind === 'network' || fault.kind === 'reset') return onLink(stack, fault)
  if (fault.kind === 'kill backend') return (await stack.killBackend(fault.index)) ? 'kill postgres backend' : null
  if (fault.kind === 'empty redis') return (await stack.emptyRedis()) === '' ? null : 'redis emptied'
  // The vendor may be frozen just now.
  const id = await stack.vendor.addFault(fault.fault).catch(() => null)
  return id === null ? null : `vendor ${fault.fault.kind}`
}

/** Strikes until the signal fires; resolves when every fault is over and everybody is up again. */
export const strikeUntil = async (stack: Stack, mix: Mix, random: Random, signal: AbortSignal): Promise<Strikes> => {
  const strikes: Strikes = {}
  const underWay: Promise<void>[] = []
  const count = (name: string | null) => {
    if (name !== null) strikes[name] = (strikes[name] ?? 0) + 1
  }
  while (!signal.aborted) {
    underWay.push(strike(stack, drawFault(random, mix)).then(count))
    await delay(random.between(...mix.everyMs), undefined, { signal }).catch(() => {})
  }
  await Promise.all(underWay)
  for (const link of stack.links.values()) link.set(null)
  await stack.vendor.clearFaults()
  return strikes
}

export const killsOf = (strikes: Strikes): number =>
  Object.entries(strikes).reduce((sum, [name, count]) => sum + (name.startsWith('kill') ? count : 0), 0)
