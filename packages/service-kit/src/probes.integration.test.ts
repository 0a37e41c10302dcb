import { expect, test } from 'vitest'
import type { Checks } from './health.ts'
import { createLogger } from './logger.ts'
import { createMetrics } from './metrics.ts'
import { listenProbes } from './probes.ts'

const away = () => Promise.reject(new Error('away'))

const probes = async (checks: Checks, isDraining = false) => {
  const log = createLogger({ service: 'worker', level: 'fatal' })
  const port = { host: '127.0.0.1', port: 0, metricsPort: 0 }
  const listening = await listenProbes({ ...port, checks, log, metrics: createMetrics(), isDraining: () => isDraining })
  const get = async (path: string, url = listening.url) => {
    const response = await fetch(`${url}${path}`)
    return { status: response.status, text: await response.text() }
  }
  return { get, listening, [Symbol.asyncDispose]: () => listening[Symbol.asyncDispose]() }
}

test('/healthz says the process turns, whatever is away', async () => {
  await using it = await probes({ database: away })
  expect(await it.get('/healthz')).toEqual({ status: 200, text: '{"status":"ok"}' })
})

test('/readyz says which dependency is away', async () => {
  await using it = await probes({ database: away, queue: async () => {} })
  expect(await it.get('/readyz')).toEqual({
    status: 503,
    text: '{"status":"not_ready","checks":{"database":"failed","queue":"ok"}}',
  })
})

test('/readyz is off while the process stops', async () => {
  await using stopping = await probes({ queue: async () => {} }, true)
  expect(await stopping.get('/readyz')).toEqual({ status: 503, text: '{"status":"draining"}' })
  await using running = await probes({ queue: async () => {} })
  expect(await running.get('/readyz')).toMatchObject({ status: 200 })
})

test('/metrics are on a port of their own, and a worker answers nothing else', async () => {
  await using it = await probes({})
  expect((await it.get('/metrics', it.listening.metricsUrl)).text).toContain('process_cpu')
  for (const path of ['/metrics', '/docs', '/openapi.json', '/']) {
    expect(await it.get(path)).toEqual({ status: 404, text: '' })
  }
})
