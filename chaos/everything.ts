import { EVERYTHING } from './faults/mix.ts'
import { AREAS } from './history.ts'
import { run } from './run.ts'
import { ROOT } from './stack/bundles.ts'
import { PROCESSES } from './stack/services.ts'
import type { Verdict } from './verdict.ts'

const CALM_MS = 120_000

/** All clients, all services from the product's bundles, all faults. */
export const runEverything = (seed: number, minutes: number): Promise<Verdict> =>
  run({
    seed,
    faultsMs: minutes * 60_000,
    calmMs: CALM_MS,
    bundles: ROOT,
    areas: AREAS,
    processes: PROCESSES,
    mix: EVERYTHING,
  })
