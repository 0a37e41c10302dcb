import type { Producer, Ring } from './backend.ts'
import { within } from './within.ts'

const READY_TIMEOUT_MS = 500
const ADD_TIMEOUT_MS = 1_000

/** Keeps one producer open, making a new one when the old one will never be ready. */
export const producerInUse = (open: () => Producer) => {
  let producer: Producer | null = null
  const discard = (failed: Producer) => {
    if (producer === failed) producer = null
    failed.close().catch(() => {})
  }
  const readyProducer = async (): Promise<Producer> => {
    const current = (producer ??= open())
    const ready = current.ready()
    ready.catch(() => discard(current))
    await within(ready, READY_TIMEOUT_MS)
    return current
  }
  return {
    /** Rejects within 1.5 s when the rings could not be stored. */
    send: async (rings: readonly Ring[]): Promise<void> => within((await readyProducer()).add(rings), ADD_TIMEOUT_MS),
    close: async (): Promise<void> => producer?.close(),
  }
}
