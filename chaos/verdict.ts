import { killsOf, type Strikes } from './faults/strike.ts'
import { AREAS, type AreaName, type History, type Violation } from './history.ts'

export type Tally = { ok: number; failed: number; unknown: number; acceptedWrites: number }

export type Verdict = {
  seed: number
  faultsMs: number
  strikes: Strikes
  kills: number
  areas: Record<AreaName, Tally>
  acceptedWrites: number
  violations: readonly Violation[]
  holds: boolean
  /** Where the logs are, if it does not hold. */
  directory: string
}

type Facts = { seed: number; faultsMs: number; strikes: Strikes; history: History; directory: string }

const tallyOf = (history: History, area: AreaName): Tally => {
  const calls = history.callsOf(area)
  const count = (is: (call: (typeof calls)[number]) => boolean) => calls.filter(is).length
  return {
    ok: count(({ outcome }) => outcome === 'ok'),
    failed: count(({ outcome }) => outcome === 'failed'),
    unknown: count(({ outcome }) => outcome === 'unknown'),
    acceptedWrites: count(({ outcome, write }) => write && outcome === 'ok'),
  }
}

export const verdictOf = ({ seed, faultsMs, strikes, history, directory }: Facts): Verdict => {
  const areas = Object.fromEntries(AREAS.map((area) => [area, tallyOf(history, area)])) as Verdict['areas']
  const acceptedWrites = Object.values(areas).reduce((sum, tally) => sum + tally.acceptedWrites, 0)
  const { violations } = history
  return {
    seed,
    faultsMs,
    strikes,
    kills: killsOf(strikes),
    areas,
    acceptedWrites,
    violations,
    holds: violations.length === 0,
    directory,
  }
}

const SHOWN = 20

/** The verdict in lines for people. */
export const describeVerdict = ({
  seed,
  faultsMs,
  strikes,
  kills,
  areas,
  acceptedWrites,
  ...verdict
}: Verdict): string => {
  const { violations, holds, directory } = verdict
  const struck = Object.entries(strikes)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, count]) => `${name} ${count}`)
  const told = Object.entries(areas).map(
    ([name, { ok, failed, unknown }]) => `  ${name.padEnd(12)} ${ok} ok, ${failed} refused, ${unknown} unknown`,
  )
  return [
    `seed ${seed}, ${(faultsMs / 60_000).toFixed(1)} min: ${kills} kills, ${acceptedWrites} accepted writes`,
    `  ${struck.join(', ')}`,
    ...told,
    ...violations.slice(0, SHOWN).map(({ kind, area, detail }) => `  ${kind} (${area}): ${detail}`),
    ...(violations.length > SHOWN ? [`  and ${violations.length - SHOWN} more`] : []),
    holds
      ? 'VERDICT: nothing lost, doubled, stuck, seen by strangers or inconsistent'
      : `VERDICT: ${violations.length} violations; logs are in ${directory}`,
  ].join('\n')
}
