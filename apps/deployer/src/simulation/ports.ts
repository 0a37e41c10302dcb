import type { Step } from '../vendors/step.ts'
import { VendorError } from '../vendors/vendor-error.ts'
import { vendorOver, type EndpointApi } from '../vendors/vendor.ts'
import { advance, type DeploymentStore, type Ports } from '../deployments/advance.ts'
import type { Limits } from '../deployments/deployment.ts'
import type { VirtualClock } from './clock.ts'
import type { simulatedVendor } from './vendor.ts'

/** What keeps deployments safe. A negative control switches one off, and then some history must go wrong. */
export type Guards = {
  fence: boolean
  settling: boolean
  sweeper: boolean
  stamp: boolean
  adoption: boolean
  stepEnd: boolean
  lastCheck: boolean
}

export type SimulatedPortsOptions = {
  clock: VirtualClock
  random: () => number
  troubled: () => boolean
  /** Where a worker may be killed or frozen. */
  fault: () => Promise<void>
  store: DeploymentStore
  vendor: ReturnType<typeof simulatedVendor>
  limits: Limits
  guards: Guards
  stepMs: number
  onBroken: (invariant: string) => void
}

/** A driver without those of its guards that are switched off. */
const weakened = (api: EndpointApi, { stamp, adoption }: Guards): EndpointApi => ({
  ...api,
  find: async (spec, step) => {
    const found = await api.find(spec, step)
    return found && !stamp && found.state === 'ready' ? { ...found, generation: spec.generation } : found
  },
  create: async (spec, step) => {
    const created = await api.create(spec, step)
    if (created === 'exists' && !adoption) throw new VendorError('vendor_rejected', { retryable: false })
    return created
  },
})

const startStep = (clock: VirtualClock, stepMs: number, stepEnd: boolean): Step => {
  const end = clock.now() + stepMs
  return {
    hurry: new AbortController().signal,
    remainingMs: () => {
      if (clock.now() < end || !stepEnd) return Math.max(1, end - clock.now())
      throw new VendorError('vendor_unavailable', { retryable: true })
    },
  }
}

/** Looks at the truth in the moment a result is written. */
const checked = ({ store, vendor, onBroken }: SimulatedPortsOptions): Ports['store']['record'] => {
  return async (claim, change) => {
    const recorded = await store.record(claim, change)
    const live = vendor.live()
    const becomesReady = typeof change.model === 'object' && change.model.status === 'ready'
    if (recorded && becomesReady && live?.generation !== claim.generation) {
      onBroken(`ready at generation ${claim.generation} while the vendor serves ${live?.generation ?? 'nothing'}`)
    }
    if (recorded && change.model === 'removed' && live !== null) onBroken('removed while the endpoint lives')
    return recorded
  }
}

/** Ports of which each call may kill or freeze its caller, before and after it took effect. */
export const simulatedPorts = (options: SimulatedPortsOptions): Ports => {
  const { clock, random, troubled, fault, store, vendor, limits, guards, stepMs } = options
  const dangerous =
    <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      await fault()
      const result = await call(...args)
      await fault()
      return result
    }
  const driver = vendorOver(weakened(vendor.api, guards))
  const ports: Ports = {
    store: { claim: dangerous(store.claim), record: dangerous(checked(options)) },
    vendors: { launch: driver, llmengine: driver },
    ring: dangerous(async ({ id }: { id: string }, delayMs: number) => {
      const copies = troubled() ? Math.floor(random() * 3) : 1
      for (let copy = 0; copy < copies; copy += 1) {
        clock.at(clock.now() + delayMs + random() * 20, () => clock.spawn(() => advance(ports, id)))
      }
    }),
    startStep: () => startStep(clock, stepMs, guards.stepEnd),
    random,
    limits,
  }
  return ports
}
