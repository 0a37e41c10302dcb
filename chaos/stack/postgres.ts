import { setTimeout as delay } from 'node:timers/promises'
import { descendants, freePort, startPostgres } from '@keelson/local-stack'
import type { Victim } from './process.ts'

const START_ATTEMPTS = 100

/** A durable Postgres as a victim: its postmaster is killed, or a backend, which makes it end all others and recover. */
export const startPostgresVictim = async (directory: string) => {
  const port = await freePort()
  const start = async () => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await startPostgres({ directory, durable: true, port })
      } catch (error) {
        // Until the last backend of a killed postmaster is gone, its memory keeps a new one from starting.
        if (attempt === START_ATTEMPTS) throw error
        await delay(100)
      }
    }
  }
  let server = await start()
  let isUp = true
  const pids = () => [server.pid, ...descendants(server.pid).map(({ pid }) => pid)]
  const signal = (pid: number, name: NodeJS.Signals) => {
    try {
      process.kill(pid, name)
    } catch {
      // It has just ended.
    }
  }
  const postmaster: Victim = {
    isUp: () => isUp,
    kill: async () => {
      isUp = false
      signal(server.pid, 'SIGKILL')
      await server.exited
      server = await start()
      isUp = true
    },
    freeze: async (ms) => {
      const frozen = pids()
      for (const pid of frozen) signal(pid, 'SIGSTOP')
      await delay(ms)
      for (const pid of frozen) signal(pid, 'SIGCONT')
    },
    stop: async () => server[Symbol.asyncDispose](),
  }
  const killBackend = async (index: number): Promise<boolean> => {
    const backends = descendants(server.pid).filter(({ command }) => command.includes('127.0.0.1'))
    const one = backends[index % Math.max(1, backends.length)]
    if (one) signal(one.pid, 'SIGKILL')
    return one !== undefined
  }
  return { port, url: server.url, postmaster, killBackend }
}
