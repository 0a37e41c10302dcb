import { createAdaptorServer } from '@hono/node-server'
import type { Hono } from 'hono'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { createApp } from './app.ts'
import { createControl, type Control } from './control/control.ts'
import { createWorld, type WorldOptions } from './world.ts'

export type { Control } from './control/control.ts'
export type { EndpointState } from './control/endpoint-state.ts'
export type { Orphans } from './control/orphans.ts'
export type { FaultInput } from './faults.ts'
export type { Violation } from './invariants.ts'
export type { JournalEntry } from './journal.ts'
export type { ProfileInput } from './profile.ts'
export type { SettingsPatch } from './settings.ts'

export type SimulatorOptions = WorldOptions
export type Simulator = Control & Disposable & { app: Hono }

/** A vendor that nobody can reach yet; `app.fetch` answers requests, `startSimulator` listens. */
export const createSimulator = (options: SimulatorOptions = {}): Simulator => {
  const world = createWorld(options)
  const control = createControl(world)
  return {
    ...control,
    app: createApp(world, control),
    [Symbol.dispose]: () => {
      world.closing.abort()
      world.clock.stop()
    },
  }
}

export type RunningSimulator = Control & AsyncDisposable & { url: string; port: number }

/**
 * Starts a simulator on real HTTP. Disposing it closes the server and every open connection.
 *
 * @param options.port 0 = any free one
 * @throws when the port is taken
 */
export const startSimulator = async (
  options: SimulatorOptions & { port?: number; host?: string } = {},
): Promise<RunningSimulator> => {
  const { port = 0, host = '127.0.0.1', ...rest } = options
  const { app, [Symbol.dispose]: stop, ...control } = createSimulator(rest)
  const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false }) as Server
  server.listen(port, host)
  await once(server, 'listening')
  const address = server.address()
  const bound = typeof address === 'object' && address ? address.port : port
  return {
    ...control,
    port: bound,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    [Symbol.asyncDispose]: async () => {
      stop()
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
