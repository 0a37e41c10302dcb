import { LRUCache } from 'lru-cache'

export type FailedAttemptsOptions = {
  /** Failures an address may have at once before it is refused. */
  burst?: number
  /** How long one failure counts. */
  recoveryMs?: number
  /** Addresses remembered; the least recently seen is forgotten first. */
  maxAddresses?: number
  now?: () => number
}

type Bucket = { failures: number; at: number }

/** Counts failed attempts per address in a bucket that leaks one failure every `recoveryMs`. One process's own view. */
export class FailedAttempts {
  readonly #burst: number
  readonly #recoveryMs: number
  readonly #now: () => number
  readonly #buckets: LRUCache<string, Bucket>

  constructor({
    burst = 30,
    recoveryMs = 2_000,
    maxAddresses = 10_000,
    now = () => performance.now(),
  }: FailedAttemptsOptions = {}) {
    this.#burst = burst
    this.#recoveryMs = recoveryMs
    this.#now = now
    this.#buckets = new LRUCache({ max: maxAddresses })
  }

  #failures(address: string): number {
    const bucket = this.#buckets.get(address)
    return bucket ? Math.max(0, bucket.failures - (this.#now() - bucket.at) / this.#recoveryMs) : 0
  }

  /** Seconds until this address may try again; 0 when it may now. */
  waitSeconds(address: string): number {
    const excess = this.#failures(address) - this.#burst + 1
    return excess > 0 ? Math.ceil((excess * this.#recoveryMs) / 1_000) : 0
  }

  record(address: string): void {
    this.#buckets.set(address, { failures: this.#failures(address) + 1, at: this.#now() })
  }
}
