import { setTimeout as delay } from 'node:timers/promises'
import type { FaultStack, Victim } from './fault-stack.ts'
import type { Vendor } from './insistent-client.ts'
import { stepsOf, type Operation, type Step } from './steps.ts'
import type { Link } from './wiring.ts'

/** Who dies at a step. */
const KILLED = ['deployer', 'platform-api', 'redis', 'postgres'] as const

/**
 * What happens while nobody dies. `connection`: the message or its answer is lost. `frozen`: the sender stops for longer
 * than its lease, its message with it, and wakes up when another has taken over. `stalled`: so long that the queue gives
 * its job to another; the message goes on, because later than SETTLE_TIME none may arrive.
 * `duplicate`: the queue has the job ten times, for two workers at once. `deadline`: the time is over at this moment.
 */
const DISTURBED = ['connection', 'frozen', 'stalled', 'duplicate', 'deadline'] as const

export type Struck = (typeof KILLED)[number] | (typeof DISTURBED)[number]
export const STRUCK: readonly Struck[] = [...KILLED, ...DISTURBED]

/** Whether somebody has to be started again. */
export const isKilled = (struck: Struck): struck is (typeof KILLED)[number] => KILLED.some((one) => one === struck)

/** Whether it takes another worker to see anything. */
export const needsTwoWorkers = ({ struck }: FaultCase): boolean => /frozen|stalled|duplicate/.test(struck)

export type FaultCase = { vendor: Vendor; operation: Operation; step: Step; when: 'before' | 'after'; struck: Struck }
export type Verdict = { wrong: string[]; ms: number }

const FREEZE_MS = { frozen: 1_500, stalled: 3_500 } as const
const COPIES = 10

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

export type Queue = 'redis' | 'postgres'

/** The whole matrix of both vendors, where there is somebody to strike. */
export const casesOf = (queue: Queue): FaultCase[] =>
  [...matrix('llmengine', STRUCK), ...matrix('launch', STRUCK)].filter(
    ({ struck }) => queue === 'redis' || struck !== 'redis',
  )

/** The wires a step is seen on. */
export const isOf =
  ({ from, to }: Step['link'], queue: Link['to']) =>
  (link: Link) =>
    link.from.endsWith(from) && link.to === (to === 'queue' ? queue : to)

const sleep = async (stack: FaultStack, { from }: Link, ms: number): Promise<void> => {
  stack.signal(from, 'SIGSTOP')
  await delay(ms)
  stack.signal(from, 'SIGCONT')
}

const fateOf = async (stack: FaultStack, struck: Struck, link: Link): Promise<'pass' | 'cut'> => {
  if (struck === 'connection') return 'cut'
  if (struck === 'duplicate') await stack.ringForAll(COPIES)
  if (struck === 'deadline') await stack.endTheTime()
  if (struck === 'frozen') await sleep(stack, link, FREEZE_MS.frozen)
  if (!isKilled(struck)) return 'pass'
  const victim: Victim = struck === 'deployer' && link.from.endsWith('deployer') ? link.from : struck
  await stack.kill(victim)
  return victim === link.from || victim === link.to ? 'cut' : 'pass'
}

/** What becomes of the message, and when everybody is awake again. */
export type Strike = { fate: 'pass' | 'cut'; over: Promise<void> }

/** Strikes: with its sender or its receiver gone, the message is lost. */
export const strike = async (stack: FaultStack, struck: Struck, link: Link): Promise<Strike> => {
  if (struck === 'stalled') return { fate: 'pass', over: sleep(stack, link, FREEZE_MS.stalled) }
  return { fate: await fateOf(stack, struck, link), over: Promise.resolve() }
}
