/** A serialised value; `null` bytes mean that there is none. */
export type WireBlob = { channel: string; version: string; type: string; blob: string | null }

export type WireWrite = { task_id: string; idx: number; channel: string; type: string | null; blob: string }

/** A checkpoint as the service answers it. */
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
