import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startRedis, eventually } from '@keelson/testing'
import { startSimulator } from '@keelson/vendor-simulator'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { OF_REDIS, OUTAGES, type World } from './outages.ts'
import { onPath, startPrometheus, type Prometheus } from './prometheus.ts'
import { ROOT } from './run-start.ts'
import { runningServices } from './running-services.ts'

const RULES = join(ROOT, 'infra/observability/alerts.yaml')
const { groups }: { groups: { rules: { alert: string }[] }[] } = parse(await readFile(RULES, 'utf8'))
const ALERTS = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert))

const NAMES = ['platform-api', 'agent-api', 'deployer', 'webhook-worker'] as const

/** Reads Debian's prometheus where it is installed, as `.ci/run` does, and the environment of processes in /proc. */
const canRun = onPath('prometheus') !== undefined && onPath('promtool') !== undefined && process.platform === 'linux'

test('every alert has an outage that makes it fire', () => {
  expect(Object.keys(OUTAGES).toSorted()).toEqual(ALERTS.toSorted())
})

describe.runIf(canRun)('with Prometheus', () => {
  const stack = new AsyncDisposableStack()
  let world: World
  let prometheus: Prometheus

  beforeAll(async () => {
    const redis = await startRedis()
    let isCut = false
    const cutRedis =
      redis &&
      (() => {
        if (!isCut) void redis[Symbol.asyncDispose]()
        isCut = true
      })
    if (redis) stack.defer(async () => await (isCut ? Promise.resolve() : redis[Symbol.asyncDispose]()))
    const vendor = stack.use(await startSimulator({ timeScale: 1000, seed: 1 }))
    const services = stack.use(
      await runningServices(NAMES, {
        settings: {
          LLM_ENGINE_URL: vendor.url,
          LAUNCH_URL: vendor.url,
          MAX_IN_FLIGHT: '30',
          ORPHAN_INTERVAL: '500ms',
          LOG_LEVEL: 'fatal',
        },
        redisUrl: redis?.url ?? null,
      }),
    )
    const targets = Object.fromEntries(NAMES.map((name) => [name, services.metricsUrl[name]]))
    prometheus = stack.use(await startPrometheus(RULES, targets))
    world = { services, vendor, cutRedis }
  })
  afterAll(() => stack.disposeAsync())

  // Redis last: without it, deployments start late.
  const order = [...ALERTS.filter((alert) => !OF_REDIS.includes(alert)), ...OF_REDIS]

  test.each(order)('%s fires when what it watches breaks', async (alert) => {
    if (OF_REDIS.includes(alert) && !world.cutRedis) return
    let firing = new Set<string>()
    // Some fire only while it is broken, others once a rate has two samples.
    for (let attempt = 0; attempt < 8 && !firing.has(alert); attempt += 1) {
      const outage = OUTAGES[alert]!(world)
      const seen = eventually(
        async () => {
          firing = await prometheus.firing()
          expect(firing).toContain(alert)
        },
        { deadlineMs: 6000, intervalMs: 200 },
      )
      await Promise.allSettled([outage, seen])
      await outage
    }
    expect(firing).toContain(alert)
  })
})
