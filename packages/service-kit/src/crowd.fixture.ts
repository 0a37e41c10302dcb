import { crowd } from './crowd.ts'

export const SERVICE_MS = 1
export const MOST = 1000
export const LIMITS = { least: 32, most: MOST, maxSlowdown: 4 }

/** One worker who takes a millisecond for a piece of work, under a clock that is turned by hand. */
export const simulation = () => {
  let now = 0
  let freeAt = 0
  const time = { now: () => now, turn: (done: () => void) => done() }
  const limiter = crowd(LIMITS, () => {}, time)
  const finishing: { at: number; finish: () => void }[] = []
  const latencies: number[] = []
  let cut = 0

  const work = (): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    freeAt = Math.max(freeAt, now) + SERVICE_MS
    finishing.push({ at: freeAt, finish: resolve })
    return promise
  }
  const arrive = (account_id = 'busy', waits = latencies): boolean => {
    if (!limiter.admits(() => account_id)) return false
    const from = now
    limiter.during('work', account_id, work).then(
      () => waits.push(now - from),
      () => (cut += 1),
    )
    return true
  }
  const tick = async (): Promise<void> => {
    now += 1
    while (finishing[0] && finishing[0].at <= now) finishing.shift()?.finish()
    // Whatever waits for what has just finished.
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve()
  }
  /** So many arrivals at every millisecond. @returns how many were refused, and the slowest of the last half */
  const run = async (perMs: number, forMs: number) => {
    latencies.length = cut = 0
    let refused = 0
    for (let [ms, due] = [0, 0]; ms < forMs; ms += 1) {
      for (due += perMs; due >= 1; due -= 1) refused += arrive() ? 0 : 1
      await tick()
    }
    return {
      refused: refused + cut,
      done: latencies.length,
      slowestMs: Math.max(...latencies.slice(latencies.length / 2)),
    }
  }
  /** The one worker is held up, as by a lock, and then does all that waits. */
  const pause = async (forMs: number): Promise<void> => {
    freeAt += forMs
    for (const one of finishing) one.at += forMs
    await run(0, forMs + finishing.length * SERVICE_MS)
  }
  return { limiter, arrive, run, pause }
}
