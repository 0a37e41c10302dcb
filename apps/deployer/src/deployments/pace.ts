import type { Claim, Limits } from './deployment.ts'

const POLLS_PER_DURATION = 8

/** How long to wait before the next look: an eighth of the time it took so far, so that quick things end quickly. */
export const pollMs = ({ acceptedMs, queuedMs }: Claim, { pollMinMs, pollMaxMs }: Limits): number =>
  Math.min(Math.max((acceptedMs ?? queuedMs) / POLLS_PER_DURATION, pollMinMs), pollMaxMs)

/**
 * How long to wait after the n-th failed step in a row: doubles, half of it random so that many do not return at once.
 *
 * @param random from 0 up to 1
 */
export const retryMs = (attempts: number, { retryMinMs, retryMaxMs }: Limits, random: number): number =>
  Math.min(retryMinMs * 2 ** Math.min(attempts - 1, 30), retryMaxMs) * (0.5 + random / 2)
