import { setInterval as ticks, setTimeout as delay } from 'node:timers/promises'
import type { Area, StartArea } from './areas/area.ts'
import { startCheckpoints } from './areas/checkpoints.ts'
import { startCredentials } from './areas/credentials.ts'
import { startModels } from './areas/models.ts'
import { startSpans } from './areas/spans.ts'
import { startWebhooks } from './areas/webhooks.ts'
import { recordingClient } from './client.ts'
import type { Mix } from './faults/schedule.ts'
import { strikeUntil } from './faults/strike.ts'
import { createHistory, type AreaName, type History } from './history.ts'
import { randomOf } from './random.ts'
import type { ProcessName } from './stack/services.ts'
import { startStack, type Stack } from './stack/stack.ts'
import { verdictOf, type Verdict } from './verdict.ts'

const START: Record<AreaName, StartArea> = {
  credentials: startCredentials,
  models: startModels,
  spans: startSpans,
  checkpoints: startCheckpoints,
  webhooks: startWebhooks,
}

export type Run = {
  seed: number
  /** How long faults strike. */
  faultsMs: number
  /** How long everything may take to come to its end when they are over. */
  calmMs: number
  bundles: string
  areas: readonly AreaName[]
  processes: readonly ProcessName[]
  mix: Mix
}

/** Waits until nothing that was accepted is under way any more, and reports what still is at the deadline. */
const untilCalm = async (areas: ReadonlyMap<AreaName, Area>, history: History, calmMs: number): Promise<void> => {
  const deadline = performance.now() + calmMs
  for (const [name, { pending }] of areas) {
    for (let left = await pending(); left > 0; left = await pending()) {
      if (performance.now() > deadline) {
        history.violate('stuck', name, `${left} things had not ended ${calmMs / 1000} s after the last fault`)
        break
      }
      await delay(250)
    }
  }
}

const untilEverybodyIsUp = async ({ victims, db }: Stack, history: History): Promise<void> => {
  const deadline = performance.now() + 30_000
  for (const [name, victim] of victims) {
    while (!victim.isUp() && performance.now() < deadline) await delay(100)
    if (!victim.isUp()) history.violate('stuck', 'services', `${name} did not come back`)
  }
  // After a killed backend Postgres is up, and recovers.
  const answers = () =>
    db.sql`select 1`.then(
      () => true,
      () => false,
    )
  while (!(await answers()) && performance.now() < deadline) await delay(100)
}

const PROGRESS_MS = 30_000

/** Says every half minute how far it is, until the signal fires. */
const tellProgress = async (history: History, stage: () => string, signal: AbortSignal): Promise<void> => {
  const startedMs = performance.now()
  try {
    for await (const _ of ticks(PROGRESS_MS, undefined, { signal })) {
      const seconds = Math.round((performance.now() - startedMs) / 1000)
      const { calls, violations } = history
      process.stderr.write(`${seconds} s, ${stage()}: ${calls.length} calls, ${violations.length} violations\n`)
    }
  } catch {
    // It is over.
  }
}

/** Runs everything, lets faults strike, and checks what clients were told against what became of it. */
export const run = async ({ seed, faultsMs, calmMs, bundles, areas, processes, mix }: Run): Promise<Verdict> => {
  const history = createHistory()
  const random = (name: string) => randomOf(seed, name)
  await using stack = await startStack({ bundles, processes, history, random: random('agent').next })
  const [stopping, over] = [new AbortController(), new AbortController()]
  let stage = 'faults strike'
  void tellProgress(history, () => stage, over.signal)
  const context = { stack, history, client: recordingClient(history), random, stopping: stopping.signal }
  const started = new Map<AreaName, Area>()
  for (const name of areas) started.set(name, await START[name](context))

  const strikes = await strikeUntil(stack, mix, random('faults'), AbortSignal.timeout(faultsMs))
  await untilEverybodyIsUp(stack, history)
  stopping.abort()
  stage = 'the last stories end'
  for (const { ended } of started.values()) await ended
  stage = 'what was accepted comes to its end'
  await untilCalm(started, history, calmMs)
  stage = 'everything is checked'
  for (const { check } of started.values()) await check()
  over.abort()
  return verdictOf({ seed, faultsMs, strikes, history, directory: stack.directory })
}
