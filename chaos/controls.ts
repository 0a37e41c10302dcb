import type { Mix } from './faults/schedule.ts'
import type { AreaName, Violation } from './history.ts'
import type { ProcessName } from './stack/services.ts'

/** A guard as it stands in its file, and what stands there without it. */
export type Cut = { file: string; guard: string; without: string }

export type Unpatched = { name: string; patch: string }

/** A guard switched off, the faults that show what it was good for, and what must then be found. */
export type Control = {
  summary: string
  cuts: readonly Cut[]
  /** A package that is taken without our patch. */
  unpatched?: Unpatched
  areas: readonly AreaName[]
  processes: readonly ProcessName[]
  mix: Mix
  faultsMs: number
  calmMs: number
  finds: Violation['kind']
}

const DEPLOYERS = ['deployer-1', 'deployer-2'] as const
const VENDOR_LINKS = ['deployer-1 -> vendor', 'deployer-2 -> vendor']

const MIX = {
  everyMs: [200, 800],
  freezeMs: [2_200, 3_500],
  links: VENDOR_LINKS,
  vendorFault: (random) => ({
    kind: 'reset',
    when: 'after',
    operation: random.pick(['llm.create', 'endpoints.create']),
    count: 3,
    status: 500,
    interval_ms: 100,
  }),
} satisfies Partial<Mix>

const MODELS = {
  areas: ['models'],
  processes: ['platform-api', ...DEPLOYERS],
  faultsMs: 20_000,
  calmMs: 45_000,
} satisfies Partial<Control>
const AGENT_API = { processes: ['agent-api'], faultsMs: 20_000, calmMs: 10_000 } satisfies Partial<Control>

export const CONTROLS: Record<string, Control> = {
  sweeper: {
    ...MODELS,
    summary: 'nobody looks for deployments whose doorbell was lost',
    cuts: [
      {
        file: 'apps/deployer/src/deployments/reconcile.ts',
        guard: 'await store.due(lateMs, batch)',
        without: '[] as string[]',
      },
    ],
    mix: { ...MIX, victims: [...DEPLOYERS, 'redis'], weights: { kill: 4, 'empty redis': 1 } },
    finds: 'stuck',
  },
  fence: {
    ...MODELS,
    summary: 'a worker that was taken over may still write its result',
    cuts: [
      {
        file: 'apps/deployer/src/deployments/record.ts',
        guard: 'and d.fence = ${claim.fence} and d.finished_at is null',
        without: '',
      },
    ],
    // The vendor is slow, so that whoever is frozen is in the middle of a step, and somebody is awake to take over.
    mix: {
      ...MIX,
      everyMs: [600, 1_200],
      freezeMs: [3_200, 4_500],
      victims: DEPLOYERS,
      weights: { freeze: 1, vendor: 1 },
      vendorFault: () => ({ kind: 'delay', when: 'before', operation: '*', count: 10, status: 500, interval_ms: 500 }),
    },
    finds: 'doubled',
  },
  adoption: {
    ...MODELS,
    summary: 'an endpoint whose creation was never answered counts as a stranger',
    cuts: [
      {
        file: 'apps/deployer/src/vendors/llm-engine.ts',
        guard: "if (saysExists(answer)) return 'exists'",
        without: '',
      },
      { file: 'apps/deployer/src/vendors/launch.ts', guard: "if (saysExists(answer)) return 'exists'", without: '' },
      {
        file: 'apps/deployer/src/vendors/vendor.ts',
        guard: 'if (found !== null) return replace(found, spec, step)',
        without: 'if (found !== null && found.generation !== spec.generation) return replace(found, spec, step)',
      },
      {
        file: 'apps/deployer/src/vendors/vendor.ts',
        guard: 'observe: api.find,',
        without:
          "observe: async (spec, step) => ('acceptedMs' in spec && spec.acceptedMs === null ? null : api.find(spec, step)),",
      },
    ],
    mix: { ...MIX, victims: DEPLOYERS, weights: { vendor: 4, kill: 1 } },
    finds: 'inconsistent',
  },
  acknowledgement: {
    ...AGENT_API,
    summary: 'spans are acknowledged before their statement has committed',
    areas: ['spans'],
    cuts: [
      {
        file: 'packages/database/src/group-commit.ts',
        guard: 'const results = await options.write(',
        without:
          'for (const { item, resolve } of batch) resolve(item as never)\n    const results = await options.write(',
      },
    ],
    // Seldom enough that something is acknowledged in between.
    mix: {
      ...MIX,
      everyMs: [1_500, 2_500],
      victims: ['agent-api', 'postgres'],
      weights: { kill: 3, 'kill backend': 2 },
    },
    finds: 'lost',
  },
  tombstone: {
    ...AGENT_API,
    summary: 'what was written to a thread before its deletion is admitted after it',
    areas: ['checkpoints'],
    cuts: [
      {
        file: 'apps/agent-api/src/checkpoints/put-statement.ts',
        guard: 'admitted as materialized (select ${ADMIT} from incoming)',
        without: 'admitted as materialized (select count(*) from incoming)',
      },
      {
        file: 'apps/agent-api/src/checkpoints/put-writes.ts',
        guard:
          'select agent.admit_all(array_agg(account_id), array_agg(thread_id), array_agg(checkpoint_ns), array_agg(checkpoint_id))',
        without: 'select count(*)',
      },
    ],
    mix: {
      ...MIX,
      links: ['agent-api -> postgres', 'client -> agent-api'],
      victims: ['agent-api'],
      weights: { network: 4, kill: 1 },
    },
    finds: 'inconsistent',
  },
  'driver-patch': {
    ...AGENT_API,
    summary: 'the Postgres driver is as its makers published it',
    processes: ['platform-api', 'agent-api'],
    areas: ['credentials', 'spans'],
    // Seldom does a connection end just between what the driver has queued and what it has sent.
    faultsMs: 60_000,
    cuts: [],
    unpatched: { name: 'postgres', patch: 'patches/postgres@3.4.9.patch' },
    mix: {
      ...MIX,
      links: ['agent-api -> postgres', 'platform-api -> postgres'],
      victims: ['postgres'],
      everyMs: [300, 900],
      weights: { kill: 1, 'kill backend': 2, reset: 4 },
    },
    finds: 'crashed',
  },
}

/** @throws when there is none of that name */
export const controlOf = (name: string): Control => {
  const control = CONTROLS[name]
  if (control === undefined)
    throw new Error(`There is no control ${name}; there are ${Object.keys(CONTROLS).join(', ')}`)
  return control
}
