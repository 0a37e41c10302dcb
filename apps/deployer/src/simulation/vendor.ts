import type { Step } from '../vendors/step.ts'
import { VendorError } from '../vendors/vendor-error.ts'
import type { Endpoint, EndpointApi } from '../vendors/vendor.ts'
import type { VirtualClock } from './clock.ts'
import { endpointAt, type Fate, type Version } from './endpoint.ts'

export type SimulatedVendorOptions = {
  clock: VirtualClock
  random: () => number
  fateOf: (generation: number) => Fate
  /** How old a reading may be; the vendor's caches. */
  staleMs: number
  /** How long a request may hang before it takes effect. */
  hangMs: number
  /** Where the worker that calls may be killed or frozen. */
  fault: () => Promise<void>
  /** Whether the driver looks at the time once more in the moment of sending. */
  lastCheck: boolean
  /** Switched off, no trouble is made any more. */
  troubled: () => boolean
}

const lost = (uncertain: boolean) => new VendorError('vendor_unavailable', { retryable: true, uncertain })

/** For an effect nobody is told about. */
const attempt = (effect: () => unknown): void => {
  try {
    effect()
  } catch (error) {
    if (!(error instanceof VendorError)) throw error
  }
}

/** Requests that are refused, hang, take effect though nobody waits any more, or whose answer gets lost. */
const wire = ({ clock, random, hangMs, fault, troubled, lastCheck }: SimulatedVendorOptions) => {
  return async <Result>(step: Step, isWrite: boolean, effect: () => Result): Promise<Result> => {
    await fault()
    step.remainingMs()
    // The connection is made meanwhile.
    await fault()
    if (lastCheck) step.remainingMs()
    const trouble = troubled() ? random() : 1
    if (trouble < 0.04) throw lost(false)
    if (trouble < 0.06) throw new VendorError('vendor_error', { retryable: true })
    if (trouble < 0.12) {
      if (random() < 0.7) clock.at(clock.now() + random() * hangMs, () => attempt(effect))
      await clock.sleep(Math.min(step.remainingMs(), hangMs))
      throw lost(isWrite)
    }
    await clock.sleep(1 + Math.floor(random() * 50))
    const result = effect()
    await fault()
    if (trouble < 0.18) throw lost(isWrite)
    return result
  }
}

/** A vendor for one endpoint: slow, forgetful, failing, answering from caches, finishing requests nobody waits for. */
export const simulatedVendor = (options: SimulatedVendorOptions) => {
  const { clock, random, fateOf, staleMs, troubled } = options
  const history: { from: number; version: Version | null }[] = [{ from: 0, version: null }]
  const creates: number[] = []
  const request = wire(options)
  const current = () => history.at(-1)!.version
  const write = (version: Version | null) => history.push({ from: clock.now(), version })
  const show = (version: Version, at: number) => endpointAt(version, fateOf(version.generation), at)

  const read = (): Endpoint | null => {
    const at = clock.now() - (troubled() && random() < 0.3 ? Math.floor(random() * staleMs) : 0)
    const { version } = history.findLast(({ from }) => from <= at) ?? history[0]!
    return version && show(version, at)
  }
  const check = (generation: number): void => {
    if (fateOf(generation).refused) throw new VendorError('vendor_rejected', { detail: 'bad shape', retryable: false })
  }
  const create = (generation: number): 'created' | 'exists' => {
    check(generation)
    if (current() !== null) return 'exists'
    creates.push(generation)
    write({ generation, since: clock.now(), oldWorkers: false })
    return 'created'
  }
  const update = (generation: number): void => {
    check(generation)
    const old = current()
    if (old === null) throw new VendorError('vendor_error', { detail: 'not found', retryable: true })
    const { state, workers } = show(old, clock.now())
    const oldWorkers = (workers?.available ?? 0) > 0
    if (state !== 'ready' && !oldWorkers) throw new VendorError('vendor_error', { detail: 'no infra', retryable: true })
    write({ generation, since: clock.now(), oldWorkers })
  }
  const remove = (): void => {
    if (current() !== null) write(null)
  }

  const api: EndpointApi = {
    find: (_spec, step) => request(step, false, read),
    create: ({ generation }, step) => request(step, true, () => create(generation)),
    update: (_found, { generation }, step) => request(step, true, () => update(generation)),
    remove: (_found, _spec, step) => request(step, true, remove),
    list: (step) => request(step, false, () => []),
  }
  return { api, creates, live: () => current() && show(current()!, clock.now()) }
}
