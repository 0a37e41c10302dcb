const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** Pauses after the first, second, … failure: about 28 hours in all. */
const PAUSES_MS = [5_000, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 5 * HOUR_MS, 10 * HOUR_MS, 10 * HOUR_MS]

/**
 * How long to wait after a failure, spread by a tenth so that what failed together is not tried together; `null` after
 * the last.
 *
 * @param failures how many there have been, this one included
 */
export const pauseMs = (failures: number, random: () => number = Math.random): number | null => {
  const pause = PAUSES_MS[failures - 1]
  return pause === undefined ? null : Math.round(pause * (0.9 + 0.2 * random()))
}
