import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import { fixture, type Store } from './fixture.ts'
import { measure } from './measure.ts'

const THREADS = 16

/** A state as a conversation leaves it, and a small one. */
export type Size = { name: '2 KB' | '256 KB'; bytes: number }

export type Operation = 'put' | 'get-tuple' | 'put-writes' | 'list'

export const threadConfig = (thread_id: string) => ({ configurable: { thread_id, checkpoint_ns: '' } })

const threadOf = ({ name }: Store, { bytes }: Size, index: number) => `${name}-seed-${bytes}-${index % THREADS}`

/** Threads that are there before anything is measured. */
export const seed = async (store: Store, size: Size, depth: number) => {
  for (let thread = 0; thread < THREADS; thread += 1) {
    const writer = fixture(size.bytes).writer(store.saver, threadOf(store, size, thread))
    for (let step = 0; step < depth; step += 1) {
      await writer.put(step === 0)
      await writer.putWrites('task')
    }
  }
}

export const readAll = async (items: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of items);
}

let runs = 0
let calls = 0

const readerOf = (operation: 'get-tuple' | 'list', store: Store, size: Size) => {
  const { saver }: { saver: BaseCheckpointSaver } = store
  const next = (client: number) => threadConfig(threadOf(store, size, client + (calls += 1)))
  return operation === 'get-tuple'
    ? (client: number) => saver.getTuple(next(client))
    : (client: number) => readAll(saver.list(next(client), { limit: 10 }))
}

/** Each client writes to a thread of its own. */
const writerOf = (operation: 'put' | 'put-writes', { name, saver }: Store, size: Size, clients: number) => {
  const run = (runs += 1)
  const { writer } = fixture(size.bytes)
  const writers = Array.from({ length: clients }, (_, client) => writer(saver, `${name}-${operation}-${run}-${client}`))
  if (operation === 'put') return (client: number) => writers[client]!.put()
  const first = writers.map((one) => one.put())
  return async (client: number) => {
    await first[client]
    await writers[client]!.putWrites(`task-${(calls += 1)}`)
  }
}

export const measureOperation = (
  operation: Operation,
  { store, size, clients, seconds }: { store: Store; size: Size; clients: number; seconds: number },
) => {
  const call =
    operation === 'put' || operation === 'put-writes'
      ? writerOf(operation, store, size, clients)
      : readerOf(operation, store, size)
  return measure(clients, call, seconds)
}
