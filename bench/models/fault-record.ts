import { casesOf, nameOf, type Queue } from './fault-case.ts'
import { journal } from './journal.ts'
import type { Operation } from './steps.ts'

/** What playing a part of the matrix came to. */
export type FaultRun = {
  queue: Queue
  /** Chose the cases by their names. */
  expression: string
  cases: number
  /** The names of cases that did not end as they should. */
  wrong: string[]
  /** Models that a worker wrote about after they had ended. */
  late: string[]
  longest_s: number
  commit: string
  at: string
}

const { record, recorded } = journal<FaultRun>('models-faults.jsonl')

export const recordFaults = record

/** All runs that were written down, newest first. */
export const recordedFaults = async (): Promise<FaultRun[]> => (await recorded()).toReversed()

export type FaultVerdict = { cases: number; played: number; ok: number; longest_s: number; commits: string[] }

/** What the newest run of every case of an operation came to. */
export const faultVerdictOf = (newestFirst: readonly FaultRun[], queue: Queue, operation: Operation): FaultVerdict => {
  const names = casesOf(queue)
    .filter((fault) => fault.operation === operation)
    .map(nameOf)
  const played = names.flatMap((name) => {
    const run = newestFirst.find((one) => one.queue === queue && new RegExp(one.expression).test(name))
    return run === undefined ? [] : [{ name, run }]
  })
  const runs = [...new Set(played.map(({ run }) => run))]
  return {
    cases: names.length,
    played: played.length,
    ok: played.filter(({ name, run }) => run.late.length === 0 && !run.wrong.includes(name)).length,
    longest_s: Math.max(0, ...runs.map(({ longest_s }) => longest_s)),
    commits: [...new Set(runs.map(({ commit }) => commit))],
  }
}
