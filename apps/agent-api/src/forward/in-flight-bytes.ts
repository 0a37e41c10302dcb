import { ApiError } from '@keelson/service-kit'

/** What one request holds; given back when it is disposed. */
export type HeldBytes = Disposable & {
  /** @throws ApiError `unavailable` when everybody together would hold too much */
  add: (bytes: number) => void
}

/**
 * Bounds what bodies take of the memory, however many arrive. Bytes count as they come: a request that only announces
 * many, or sends them slowly, keeps nobody else out.
 */
export const inFlightBytes = (maxBytes: number): (() => HeldBytes) => {
  let allHeld = 0
  return () => {
    let held = 0
    return {
      add: (bytes) => {
        if (allHeld + bytes > maxBytes) throw new ApiError('unavailable', 'Too many webhooks are arriving at once')
        held += bytes
        allHeld += bytes
      },
      [Symbol.dispose]: () => {
        allHeld -= held
        held = 0
      },
    }
  }
}
