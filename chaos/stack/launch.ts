import { join } from 'node:path'
import { freePort, NODE_FLAGS, type ServiceName } from '@keelson/local-stack'
import type { History } from '../history.ts'
import { startVictim, type Victim } from './process.ts'
import { PROCESSES, serviceOf, settingsOf, type ProcessName } from './services.ts'

type AnyName = ProcessName | 'vendor-simulator'

export const urlAt = (port: number) => `http://127.0.0.1:${port}`
const atPort = (url: string, port: number) => Object.assign(new URL(url), { port: String(port) }).href

/** A port for every process; the local stack knows only one deployer. */
export const choosePorts = async () =>
  Object.fromEntries(
    await Promise.all(
      [...PROCESSES, 'vendor-simulator', 'deployer'].map(async (name) => [name, await freePort()] as const),
    ),
  ) as Record<ProcessName | ServiceName, number>

const isReady = (port: number) => async () => {
  const answer = await fetch(`${urlAt(port)}/readyz`, { signal: AbortSignal.timeout(1000) })
  await answer.body?.cancel()
  return answer.ok
}

export type StarterOptions = {
  directory: string
  key_file: string
  port: Awaited<ReturnType<typeof choosePorts>>
  link: (from: string, to: string, port: number) => Promise<number>
  serviceUrl: string
  postgres: { port: number }
  redis: { port: number }
  history: History
}

/** Starts processes from the bundles in the directory, each with links of its own to what it needs. */
export const processStarter = (options: StarterOptions) => {
  const { directory, key_file, port, link, serviceUrl, postgres, redis, history } = options

  const linked = async (name: AnyName) => ({
    database_url: atPort(serviceUrl, await link(name, 'postgres', postgres.port)),
    owns_database: false,
    redis_url: `redis://127.0.0.1:${await link(name, 'redis', redis.port)}`,
    key_file,
    port: name.startsWith('deployer')
      ? { ...port, 'vendor-simulator': await link(name, 'vendor', port['vendor-simulator']) }
      : port,
  })

  return async (name: AnyName): Promise<Victim> =>
    startVictim({
      name,
      command: [process.execPath, ...NODE_FLAGS, join(directory, serviceOf(name).bundle)],
      env: settingsOf(name, port[name], await linked(name)),
      log: join(directory, `${name}.log`),
      isReady: isReady(port[name]),
      onCrash: (detail) => history.violate('crashed', 'services', detail),
    })
}
