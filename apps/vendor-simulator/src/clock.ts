/**
 * The vendor's clock. Lifecycles and caches run on it; it goes `scale` times as fast as the machine's.
 * With scale 0 it stands still between calls of `advance`.
 */
export type Clock = {
  readonly scale: number
  /** Vendor milliseconds since the start. */
  now: () => number
  /** The machine's time, in milliseconds since 1970, as timestamps show it. */
  wall: () => number
  /** Milliseconds of the machine that pass during this many of the vendor. */
  realMs: (vendorMs: number) => number
  /** Resolves once this many vendor milliseconds have passed, or the clock was stopped. */
  sleep: (vendorMs: number) => Promise<void>
  advance: (vendorMs: number) => void
  stop: () => void
}

type Sleeper = { untilMs: number; wake: () => void; timer: NodeJS.Timeout | undefined }

/** @param epochMs what `wall` shows at the start */
export const createClock = ({ scale, epochMs }: { scale: number; epochMs: number }): Clock => {
  const started = performance.now()
  const sleepers = new Set<Sleeper>()
  let advancedMs = 0

  const elapsedMs = () => performance.now() - started
  const now = () => (scale === 0 ? advancedMs : elapsedMs() * scale + advancedMs)
  const wake = (sleeper: Sleeper) => {
    clearTimeout(sleeper.timer)
    sleepers.delete(sleeper)
    sleeper.wake()
  }
  const arm = (sleeper: Sleeper) => {
    clearTimeout(sleeper.timer)
    const leftMs = sleeper.untilMs - now()
    if (leftMs <= 0) wake(sleeper)
    else if (scale > 0) sleeper.timer = setTimeout(() => arm(sleeper), Math.min(Math.ceil(leftMs / scale), 2 ** 31 - 1))
  }

  return {
    scale,
    now,
    wall: () => epochMs + (scale === 0 ? advancedMs : elapsedMs()),
    realMs: (vendorMs) => vendorMs / (scale || 1),
    sleep: (vendorMs) =>
      new Promise((resolve) => {
        const sleeper: Sleeper = { untilMs: now() + vendorMs, wake: resolve, timer: undefined }
        sleepers.add(sleeper)
        arm(sleeper)
      }),
    advance: (vendorMs) => {
      advancedMs += vendorMs
      for (const sleeper of sleepers) arm(sleeper)
    },
    stop: () => {
      for (const sleeper of sleepers) wake(sleeper)
    },
  }
}
