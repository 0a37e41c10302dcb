import { journal } from './journal.ts'

/** What one soak came to, and what it was of. */
export type Soak = {
  queue: 'redis' | 'postgres'
  kills: number
  created: number
  updated: number
  deleted: number
  lost: number
  doubled: number
  stuck: number
  commit: string
  at: string
}

/** All soaks that were written down, oldest first. */
export const { record: recordSoak, recorded: recordedSoaks } = journal<Soak>('models-soak.jsonl')

export type SoakVerdict = Pick<Soak, 'kills' | 'created' | 'updated' | 'deleted' | 'lost' | 'doubled' | 'stuck'> & {
  soaks: number
  holds: boolean
}

const SUMMED = ['kills', 'created', 'updated', 'deleted', 'lost', 'doubled', 'stuck'] as const

/** The sum of soaks. It holds when they come to enough kills and nothing was lost, doubled or stuck. */
export const verdictOf = (soaks: readonly Soak[], killsWanted: number): SoakVerdict => {
  const sums = Object.fromEntries(SUMMED.map((name) => [name, soaks.reduce((sum, soak) => sum + soak[name], 0)]))
  const total = sums as Pick<SoakVerdict, (typeof SUMMED)[number]>
  const isClean = total.lost + total.doubled + total.stuck === 0
  return { soaks: soaks.length, ...total, holds: isClean && total.kills >= killsWanted }
}
