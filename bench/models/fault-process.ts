import { cp } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { freePort, SERVICES, type ServiceName, type StackEnvironment } from '@keelson/local-stack'
import { supervisedService } from '../spans/supervised.ts'
import type { ProcessName, Wiring } from './wiring.ts'

const ROOT = resolve(import.meta.dirname, '../..')

export type Behind = {
  directory: string
  key_file: string
  database_url: string
  wires: Wiring
  ports: { postgres: number; redis: number | null; vendor: number }
  settings: Record<string, string>
}

const portsOf = async () =>
  Object.fromEntries(await Promise.all(SERVICES.map(async ({ name }) => [name, await freePort()] as const))) as Record<
    ServiceName,
    number
  >

const withPort = (url: string, port: number): string => Object.assign(new URL(url), { port: String(port) }).href

/** A process of a stack from its bundle, which can be killed and comes back; it reaches nobody but over wires. */
export const startFaultProcess = async (name: ProcessName, behind: Behind) => {
  const { directory, key_file, database_url, wires, ports, settings } = behind
  const service = SERVICES.find((one) => one.name === name.replace('second ', ''))!
  const copy = join(directory, name)
  const bundle = dirname(service.bundle)
  // A copy, because somebody may build while this runs, and because its path tells the process.
  await cp(join(ROOT, bundle), join(copy, bundle), { recursive: true })
  const redis = ports.redis === null ? null : await wires.open(name, 'redis', ports.redis)
  const environment: StackEnvironment = {
    database_url: withPort(database_url, await wires.open(name, 'postgres', ports.postgres)),
    redis_url: redis === null ? undefined : `redis://127.0.0.1:${redis}`,
    owns_database: false,
    key_file,
    port: await portsOf(),
  }
  const vendor = `http://127.0.0.1:${await wires.open(name, 'vendor', ports.vendor)}`
  const own = { LLM_ENGINE_URL: vendor, LAUNCH_URL: vendor, LOG_LEVEL: 'fatal', ...settings }
  const env = (given: StackEnvironment) => ({ ...service.env(given), ...own })
  const running = await supervisedService(copy, { ...service, env }, environment)
  return { ...running, url: `http://127.0.0.1:${environment.port[service.name]}` }
}

export type FaultProcess = Awaited<ReturnType<typeof startFaultProcess>>
