import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  freePort,
  startPostgres,
  startService,
  waitUntilReady,
  type KeptProcess,
  type Service,
  type StackEnvironment,
  descendants,
} from '@keelson/local-stack'

const START_ATTEMPTS = 50

const untilItStarts = async <Started>(start: () => Promise<Started>): Promise<Started> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start()
    } catch (error) {
      if (attempt === START_ATTEMPTS) throw error
      await delay(200)
    }
  }
}

/** A durable Postgres that comes back after it was killed. */
export const supervisedPostgres = async (directory: string) => {
  const port = await freePort()
  const start = () => startPostgres({ directory, durable: true, port })
  let server = await start()
  return {
    url: server.url,
    pids: () => [server.pid, ...descendants(server.pid).map(({ pid }) => pid)],
    /** Until the last backend of the killed postmaster is gone, its memory keeps a new one from starting. */
    killAndRestart: async (): Promise<void> => {
      process.kill(server.pid, 'SIGKILL')
      await server.exited
      server = await untilItStarts(start)
    },
    /** The postmaster then ends all other backends and recovers by itself. */
    killBackend: async (): Promise<void> => {
      const backends = descendants(server.pid).filter(({ command }) => command.includes('127.0.0.1'))
      const one = backends[Math.floor(Math.random() * backends.length)]
      if (one) process.kill(one.pid, 'SIGKILL')
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

/** A service that comes back after it was killed, and is started again when it ends while Postgres recovers. */
export const supervisedService = async (directory: string, service: Service, environment: StackEnvironment) => {
  let running: KeptProcess
  const start = async (): Promise<void> => {
    const started = startService(directory, service, environment)
    running = started
    const ended = new AbortController()
    void started.exited.then(({ reason }) => ended.abort(new Error(`${service.name} ${reason}`)))
    try {
      await waitUntilReady(service, environment, ended.signal)
    } catch (error) {
      await started.stop()
      throw error
    }
  }
  const pid = (): number => {
    const bundle = join(directory, service.bundle)
    const found = descendants(process.pid).find(
      ({ command }) => command.includes(bundle) && !command.includes('KEEPER'),
    )
    if (found === undefined) throw new Error(`${service.name} does not run`)
    return found.pid
  }
  const stop = () => running.stop()
  await untilItStarts(start)
  return {
    pid,
    stop,
    killAndRestart: async (): Promise<void> => {
      process.kill(pid(), 'SIGKILL')
      await running.exited
      await untilItStarts(start)
    },
    [Symbol.asyncDispose]: async () => void (await stop()),
  }
}
