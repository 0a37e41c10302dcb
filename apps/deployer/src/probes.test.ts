import { createMetrics } from '@keelson/service-kit'
import { expect, test } from 'vitest'
import { listenProbes } from './probes.ts'

const probes = async (checks: Record<string, () => Promise<unknown>>, isStopping = false) => {
  const { registry } = createMetrics()
  const listening = await listenProbes({ host: '127.0.0.1', port: 0, checks, registry, isStopping: () => isStopping })
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${listening.port}${path}`)
    return { status: response.status, text: await response.text() }
  }
  return { get, [Symbol.asyncDispose]: () => listening[Symbol.asyncDispose]() }
}

test('/healthz says the process turns, whatever is away', async () => {
  await using it = await probes({ database: () => Promise.reject(new Error('away')) })
  expect(await it.get('/healthz')).toEqual({ status: 200, text: '{"status":"ok"}' })
})

test('/readyz says which dependency is away', async () => {
  await using it = await probes({ database: () => Promise.reject(new Error('away')), queue: async () => {} })
  expect(await it.get('/readyz')).toEqual({
    status: 503,
    text: '{"status":"not_ready","checks":{"database":"failed","queue":"ok"}}',
  })
})

test('/readyz is off while the process stops', async () => {
  await using stopping = await probes({ queue: async () => {} }, true)
  expect(await stopping.get('/readyz')).toMatchObject({ status: 503 })
  await using running = await probes({ queue: async () => {} })
  expect(await running.get('/readyz')).toMatchObject({ status: 200 })
})

test('/metrics are there, and nothing else is', async () => {
  await using it = await probes({})
  expect((await it.get('/metrics')).text).toContain('process_cpu')
  expect(await it.get('/else')).toMatchObject({ status: 404 })
})
