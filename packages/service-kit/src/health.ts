import type { Logger } from './logger.ts'

/** What a process depends on: each check rejects when its dependency is not there. */
export type Checks = Readonly<Record<string, () => Promise<unknown>>>

export type HealthOptions = { checks: Checks; timeoutMs?: number | undefined; log: Logger; isDraining: () => boolean }

/** An answer to a probe, as JSON. */
export type Health = { status: 200 | 503; body: string; headers: Readonly<Record<string, string>> }

const CHECK_MS = 2000

const within = async (timeoutMs: number, work: Promise<unknown>): Promise<void> => {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
  await Promise.race([work, promise]).finally(() => clearTimeout(timer))
}

/** Runs checks side by side; probes that come together share one run. */
const checker = ({ checks, timeoutMs = CHECK_MS, log }: HealthOptions) => {
  let running: Promise<Record<string, 'ok' | 'failed'>> | null = null

  const runOne = async ([name, check]: [string, () => Promise<unknown>]) => {
    try {
      await within(timeoutMs, check())
      return [name, 'ok'] as const
    } catch (err) {
      log.warn({ name, err }, 'a dependency is not ready')
      return [name, 'failed'] as const
    }
  }

  return async () => {
    running ??= Promise.all(Object.entries(checks).map(runOne)).then(Object.fromEntries<'ok' | 'failed'>)
    return await running.finally(() => {
      running = null
    })
  }
}

const healthy = (body: object): Health => ({ status: 200, body: JSON.stringify(body), headers: {} })
const unhealthy = (body: object): Health => ({
  status: 503,
  body: JSON.stringify(body),
  headers: { 'retry-after': '1' },
})

/** `/healthz`: the process turns. `/readyz`: it is not draining and what it depends on answers. */
export const healthOf = (options: HealthOptions) => {
  const { isDraining } = options
  const check = checker(options)
  return {
    healthz: (): Health => healthy({ status: 'ok' }),
    readyz: async (): Promise<Health> => {
      if (isDraining()) return unhealthy({ status: 'draining' })
      const checks = await check()
      const isReady = Object.values(checks).every((result) => result === 'ok')
      return isReady ? healthy({ status: 'ready', checks }) : unhealthy({ status: 'not_ready', checks })
    },
  }
}
