import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  freePort,
  keepProcess,
  startPostgres,
  startService,
  waitUntilReady,
  type KeptProcess,
  type Service,
  type StackEnvironment,
  descendants,
} from '@keelson/local-stack'

const START_ATTEMPTS = 50

/** Without its log lines, which would stand between the figures and cost time of their own. */
export const silenced = (service: Service): Service => ({
  ...service,
  env: (stack) => ({ ...service.env(stack), LOG_LEVEL: 'fatal' }),
})

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

/** Kills a process that may have ended since it was looked up, and tells whether it was there. */
const killed = (pid: number): boolean => {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw error
  }
}

/** A durable Postgres that comes back after it was killed. */
export const supervisedPostgres = async (directory: string) => {
  const port = await freePort()
  const start = () => startPostgres({ directory, durable: true, port })
  let server = await start()
  const kill = async (): Promise<void> => {
    process.kill(server.pid, 'SIGKILL')
    await server.exited
  }
  /** Until the last backend of the killed postmaster is gone, its memory keeps a new one from starting. */
  const restart = async (): Promise<void> => {
    server = await untilItStarts(start)
  }
  return {
    url: server.url,
    port,
    pids: () => [server.pid, ...descendants(server.pid).map(({ pid }) => pid)],
    kill,
    restart,
    killAndRestart: async (): Promise<void> => {
      await kill()
      await restart()
    },
    /** The postmaster then ends all other backends and recovers by itself. */
    killBackend: async (): Promise<void> => {
      const oneOf = () => {
        const backends = descendants(server.pid).filter(({ command }) => command.includes('127.0.0.1'))
        return backends[Math.floor(Math.random() * backends.length)]
      }
      for (let one = oneOf(); !one || !killed(one.pid); one = oneOf()) await delay(10)
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
  const kill = async (): Promise<void> => {
    process.kill(pid(), 'SIGKILL')
    await running.exited
  }
  const restart = () => untilItStarts(start)
  await restart()
  return {
    pid,
    stop,
    kill,
    restart,
    killAndRestart: async (): Promise<void> => {
      await kill()
      await restart()
    },
    [Symbol.asyncDispose]: async () => void (await stop()),
  }
}

/** A Redis that keeps nothing: killed, it comes back without any data. */
export const supervisedRedis = async (directory: string) => {
  const port = await freePort()
  const settings = { port: String(port), bind: '127.0.0.1', dir: directory, save: '', 'maxmemory-policy': 'noeviction' }
  const command = ['redis-server', ...Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])]
  let running: KeptProcess
  const isUp = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).once('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
  const restart = async (): Promise<void> => {
    running = keepProcess(command, { env: process.env, stopSignal: 'TERM', output: 'pipe' })
    while (!(await isUp())) await delay(10)
  }
  const kill = async (): Promise<void> => {
    const own = descendants(process.pid).find(
      ({ command }) => command.startsWith('redis-server') && command.includes(String(port)),
    )
    if (own) process.kill(own.pid, 'SIGKILL')
    await running.exited
  }
  await restart()
  return { port, kill, restart, [Symbol.asyncDispose]: async () => void (await running.stop()) }
}
