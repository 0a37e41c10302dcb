import { jsonResponse } from './answer.ts'
import type { Logger } from './logger.ts'
import type { RouteHandler } from './routing.ts'

/** What a service depends on: each check throws when its dependency is not there. */
export type Checks = Readonly<Record<string, () => Promise<void>>>

export type HealthOptions = { checks: Checks; timeoutMs: number; log: Logger; isDraining: () => boolean }

const within = async (timeoutMs: number, work: Promise<void>): Promise<void> => {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
  await Promise.race([work, promise]).finally(() => clearTimeout(timer))
}

/** Runs checks side by side; probes that come together share one run. */
const checker = ({ checks, timeoutMs, log }: HealthOptions) => {
  let running: Promise<Record<string, 'ok' | 'failed'>> | null = null

  const runOne = async ([name, check]: [string, () => Promise<void>]) => {
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

/** `/healthz`: the process turns. `/readyz`: it is not draining and what it depends on answers. */
export const healthPages = (options: HealthOptions) => {
  const { isDraining } = options
  const check = checker(options)
  const healthz: RouteHandler = ({ env }) => jsonResponse(env, 200, '{"status":"ok"}')
  const readyz: RouteHandler = async ({ env }) => {
    if (isDraining()) return jsonResponse(env, 503, '{"status":"draining"}', { 'retry-after': '1' })
    const results = await check()
    const isReady = Object.values(results).every((result) => result === 'ok')
    const body = JSON.stringify({ status: isReady ? 'ready' : 'not_ready', checks: results })
    return jsonResponse(env, isReady ? 200 : 503, body, isReady ? {} : { 'retry-after': '1' })
  }
  return { healthz, readyz }
}
