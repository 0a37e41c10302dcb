import { join } from 'node:path'
import { describeMachine } from '../harness/machine.ts'
import { table } from '../harness/results.ts'
import { writeSection } from '../harness/section.ts'

export type SoakVerdict = {
  seconds: number
  requests: number
  perSecond: number
  ofCapacity: number
  errors: number
  /** The heap of each process at the end, of what it was once it was warm; both after garbage collection. */
  growth: Readonly<Record<string, number>>
  /** That heap at each look, oldest first. */
  megabytes: Readonly<Record<string, readonly number[]>>
}

const README = join(import.meta.dirname, '../README.md')

/** Puts what came of a soak into the README of the benches. */
export const writeSoak = async (verdict: SoakVerdict): Promise<void> => {
  const { seconds, requests, perSecond, ofCapacity, errors, growth, megabytes } = verdict
  const { cores, cpu, commit, measuredAt } = await describeMachine()
  const summary = [
    `${requests.toLocaleString('en')} requests in ${Math.round(seconds / 60)} minutes, ${Math.round(perSecond)} a second,`,
    `${Math.round(ofCapacity * 100)} % of what was done without a pause: **${errors} errors**.`,
    `${cores} x ${cpu}; commit ${commit}, ${measuredAt}.`,
  ]
  const heaps = table(
    ['heap after garbage collection', 'MB, oldest look first', 'last against first third, warm'],
    Object.entries(growth).map(([name, of]) => [name, (megabytes[name] ?? []).join(', '), `${of.toFixed(3)}x`]),
  )
  await writeSection(README, 'soak', `${summary.join('\n')}\n\n${heaps}`)
}
