import { setTimeout as delay } from 'node:timers/promises'
import type { FaultStack, Victim } from './fault-stack.ts'
import type { Vendor } from './insistent-client.ts'
import { stepsOf, type Operation, type Step } from './steps.ts'
import type { Link } from './wiring.ts'

/** `connection`: nobody dies, the message or its answer is lost. `frozen`: the sender stops for longer than its lease. */
export type Struck = 'deployer' | 'platform-api' | 'redis' | 'postgres' | 'connection' | 'frozen'
export const STRUCK: readonly Struck[] = ['deployer', 'platform-api', 'redis', 'postgres', 'connection']

export type FaultCase = { vendor: Vendor; operation: Operation; step: Step; when: 'before' | 'after'; struck: Struck }
export type Verdict = { wrong: string[]; ms: number }

const FREEZE_MS = 1_500

export const nameOf = ({ vendor, operation, step, when, struck }: FaultCase): string =>
  `${operation} ${vendor}: ${struck} ${when} "${step.name}"`

/** Every step, before and after, with everyone who may die there. */
export const matrix = (vendor: Vendor, struck: readonly Struck[]): FaultCase[] =>
  (['create', 'update', 'delete'] as const).flatMap((operation) =>
    stepsOf(operation, vendor).flatMap((step) =>
      (['before', 'after'] as const).flatMap((when) =>
        struck.map((one) => ({ vendor, operation, step, when, struck: one })),
      ),
    ),
  )

/** The wires a step is seen on. */
export const isOf =
  ({ from, to }: Step['link'], queue: Link['to']) =>
  (link: Link) =>
    link.from.endsWith(from) && link.to === (to === 'queue' ? queue : to)

/** Strikes, and says what becomes of the message: with its sender or its receiver gone, it is lost. */
export const strike = async (stack: FaultStack, struck: Struck, link: Link): Promise<'pass' | 'cut'> => {
  if (struck === 'connection') return 'cut'
  if (struck === 'frozen') {
    stack.signal(link.from, 'SIGSTOP')
    await delay(FREEZE_MS)
    stack.signal(link.from, 'SIGCONT')
    return 'pass'
  }
  const victim: Victim = struck === 'deployer' && link.from.endsWith('deployer') ? link.from : struck
  await stack.kill(victim)
  return victim === link.from || victim === link.to ? 'cut' : 'pass'
}
