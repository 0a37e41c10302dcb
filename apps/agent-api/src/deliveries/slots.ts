import type { Claim } from './claim.ts'

/** What is being attempted, by id, and what may still be taken. */
export type Load = {
  free: number
  freeBytes: number
  perAgent: number
  perAccount: number
  agents: Record<string, number>
  accounts: Record<string, number>
}

/** The bodies held at once; larger than the largest, so that everything fits at some time. */
const MAX_BYTES = 134_217_728

const countBy = (names: string[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

/** The attempts a worker makes at a time: half of them for one account at most, a quarter for one agent. */
export const slots = (concurrency: number) => {
  const taken = new Set<Pick<Claim, 'account_id' | 'agent_id' | 'body'>>()
  return {
    get load(): Load {
      const all = [...taken]
      return {
        free: concurrency - taken.size,
        freeBytes: all.reduce((left, { body }) => left - body.length, MAX_BYTES),
        perAgent: Math.ceil(concurrency / 4),
        perAccount: Math.ceil(concurrency / 2),
        agents: countBy(all.map(({ agent_id }) => agent_id)),
        accounts: countBy(all.map(({ account_id }) => account_id)),
      }
    },
    take: (claim: Pick<Claim, 'account_id' | 'agent_id' | 'body'>): Disposable => {
      taken.add(claim)
      return { [Symbol.dispose]: () => void taken.delete(claim) }
    },
  }
}
