import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { platformRoutes } from '@keelson/contracts/platform'
import { createClient } from '@keelson/contracts/client'
import { readHttpFile, runHttpFile, type HttpRequest } from '@keelson/testing'
import type { RunningServices } from '../harness/services.ts'

const REQUESTS = join(import.meta.dirname, '../../packages/contracts/requests')
const APIS = ['platform-api', 'agent-api'] as const
const WAIT_SECONDS = 20

/** The agent that the examples register. */
const startAgent = async () => {
  const server = createServer((request, response) => request.resume().on('end', () => response.end('{"ok":true}')))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, [Symbol.dispose]: () => void server.close() }
}

/** The example copies a thread to a new one, so that a second time has to delete the copy of the first one. */
const repeatable = (requests: readonly HttpRequest[]): HttpRequest[] =>
  requests.flatMap((request) => {
    if (request.name !== 'copyThread') return [request]
    const { target_thread_id } = JSON.parse(request.body ?? '{}') as { target_thread_id: string }
    const body = JSON.stringify({ thread_id: target_thread_id })
    return [{ ...request, name: 'deleteCopy', url: '{{baseUrl}}/checkpoints/delete-thread', body }, request]
  })

export type Flows = Disposable & {
  /** Calls every operation of both services once, in the order of their `.http` files; tells how many, and what failed. */
  everything: (key: string) => Promise<{ requests: number; errors: string[] }>
  /** Deploys a model and takes it down again. */
  deployment: (key: string, name: string) => Promise<void>
}

export const openFlows = async ({ url }: RunningServices): Promise<Flows> => {
  const agent = await startAgent()
  const read = async (name: string) => repeatable(readHttpFile(await readFile(join(REQUESTS, `${name}.http`), 'utf8')))
  const files = await Promise.all(APIS.map(async (name) => ({ name, requests: await read(name) })))

  const everything: Flows['everything'] = async (key) => {
    const all = await Promise.all(
      files.map(({ name, requests }) => runHttpFile(requests, { baseUrl: url[name], key, agent: agent.url })),
    )
    const failed = all.flat().filter(({ status }) => status >= 300)
    return { requests: all.flat().length, errors: failed.map(({ name, status, text }) => `${name} ${status} ${text}`) }
  }

  const deployment: Flows['deployment'] = async (key, name) => {
    const keelson = createClient(platformRoutes, { baseUrl: url['platform-api'], headers: { 'x-api-key': key } })
    const vendor_configuration = { model: 'llama-3-8b-instruct', min_workers: 1, max_workers: 1 }
    const { id: model_id } = await keelson.createModel({
      body: { name, model_vendor: 'llmengine', vendor_configuration },
    })
    const state = async () => (await keelson.getModel({ params: { model_id }, query: { wait: WAIT_SECONDS } })).status
    let status = await state()
    while (status === 'deploying') status = await state()
    if (status !== 'ready') throw new Error(`the model ${name} is ${status}`)
    await keelson.deleteModel({ params: { model_id } })
  }

  return { everything, deployment, [Symbol.dispose]: () => agent[Symbol.dispose]() }
}
