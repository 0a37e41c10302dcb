/** A serialised value; `null` bytes mean that there is none. */
export type WireBlob = { channel: string; version: string; type: string; blob: Uint8Array | null }

export type WireWrite = { task_id: string; idx: number; channel: string; type: string | null; blob: Uint8Array }

/** A checkpoint as the service answers it, with bytes for what is base64 there. */
export type WireTuple = {
  thread_id: string
  checkpoint_ns: string
  checkpoint_id: string
  parent_checkpoint_id: string | null
  checkpoint: { v: number; channel_versions?: Record<string, string | number>; [key: string]: unknown }
  metadata: Record<string, unknown>
  blobs: WireBlob[]
  pending_writes: WireWrite[]
  parent_pending_sends?: WireWrite[]
}

export type WireDeltaHistory = { channels: { channel: string; writes: WireWrite[]; seed: WireBlob | null }[] }

export const valuesOfTuple = (tuple: WireTuple | null): (WireBlob | WireWrite)[] =>
  tuple === null ? [] : [...tuple.blobs, ...tuple.pending_writes, ...(tuple.parent_pending_sends ?? [])]

export const valuesOfHistory = ({ channels }: WireDeltaHistory): (WireBlob | WireWrite)[] =>
  channels.flatMap(({ writes, seed }) => (seed ? [...writes, seed] : writes))
