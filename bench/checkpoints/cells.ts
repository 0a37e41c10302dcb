import type { Comparison } from '../harness.ts'
import { fixture, type Store } from './fixture.ts'
import { rateOf } from './rate.ts'
import { seededThread } from './seed.ts'

export type Operation = 'put' | 'get-tuple' | 'put-writes' | 'list of 10'

/** What an operation is to reach; those without a figure are measured all the same. */
type Goals = Record<Operation, number>

export type Stores = { direct: Store; keelson: Store }

const drain = async (items: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of items);
}

/** Every operation at one size of state and number of clients, against the saver that talks to Postgres. */
export const comparisons = (
  { direct, keelson }: Stores,
  { bytes, clients, seconds, place = '' }: { bytes: number; clients: number; seconds: number; place?: string },
  goals: Partial<Goals>,
): Comparison[] => {
  const { writer } = fixture(bytes)
  const writersOf = ({ name, saver }: Store, kind: string, round: number) =>
    Array.from({ length: clients }, (_, client) =>
      writer(saver, `${name}-${kind}-${bytes}-${clients}${place}-${round}-${client}`),
    )
  let count = 0
  const next = () => (count += 1)
  const operations: Record<Operation, (store: Store, round: number) => (client: number) => Promise<unknown>> = {
    put: (store, round) => {
      const writers = writersOf(store, 'put', round)
      return (client) => writers[client]!.put()
    },
    'get-tuple': ({ name, saver }) => {
      return (client) => saver.getTuple(seededThread(name, bytes, client + next()))
    },
    'put-writes': (store, round) => {
      const writers = writersOf(store, 'writes', round)
      const first = writers.map((one) => one.put())
      return async (client) => {
        await first[client]
        await writers[client]!.putWrites(`task-${next()}`)
      }
    },
    'list of 10': ({ name, saver }) => {
      return (client) => drain(saver.list(seededThread(name, bytes, client + next()), { limit: 10 }))
    },
  }
  const size = bytes > 10_000 ? '256 KB' : '2 KB'
  return Object.entries(goals).map(([operation, atLeast]) => {
    const variant = (store: Store) => ({
      name: store.name,
      measure: (round: number) => rateOf(clients, operations[operation as Operation](store, round), seconds),
    })
    const name = `${size}, ${clients} client${clients > 1 ? 's' : ''}${place}: ${operation}`
    return { name, unit: 'per second', baseline: variant(direct), candidate: variant(keelson), goal: { atLeast } }
  })
}
