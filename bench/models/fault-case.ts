import { setTimeout as delay } from 'node:timers/promises'
import type { FaultStack, Victim } from './fault-stack.ts'
import type { Vendor } from './insistent-client.ts'
import { stepsOf, type Operation, type Step } from './steps.ts'
import type { Link } from './wiring.ts'

/** Who dies at a step. */
const KILLED = ['deployer', 'platform-api', 'redis', 'postgres'] as const

/**
 * What happens while nobody dies. `connection`: the message or its answer is lost. `frozen`: the sender stops for longer
 * than its lease, and wakes up when another has taken over. `stalled`: so long that the queue gives its job to another.
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

/** Strikes, and says what becomes of the message: with its sender or its receiver gone, it is lost. */
export const strike = async (stack: FaultStack, struck: Struck, link: Link): Promise<'pass' | 'cut'> => {
  if (struck === 'connection') return 'cut'
  if (struck === 'duplicate') await stack.ringForAll(COPIES)
  if (struck === 'deadline') await stack.endTheTime()
  if (struck === 'frozen' || struck === 'stalled') {
    stack.signal(link.from, 'SIGSTOP')
    await delay(FREEZE_MS[struck])
    stack.signal(link.from, 'SIGCONT')
  }
  if (!isKilled(struck)) return 'pass'
  const victim: Victim = struck === 'deployer' && link.from.endsWith('deployer') ? link.from : struck
  await stack.kill(victim)
  return victim === link.from || victim === link.to ? 'cut' : 'pass'
}
