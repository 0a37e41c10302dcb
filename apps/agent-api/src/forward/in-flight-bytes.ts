import { ApiError } from '@keelson/service-kit'

/** How many bytes of bodies may be held at once. */
export type InFlightBytes = { hold: (bytes: number) => Disposable }

/** Bounds what bodies take of the memory, however many arrive. */
export const inFlightBytes = (maxBytes: number): InFlightBytes => {
  let held = 0
  return {
    /** @throws ApiError `unavailable` */
    hold: (bytes) => {
      if (held + bytes > maxBytes) throw new ApiError('unavailable', 'Too many webhooks are arriving at once')
      held += bytes
      return {
        [Symbol.dispose]: () => {
          held -= bytes
        },
      }
    },
  }
}
