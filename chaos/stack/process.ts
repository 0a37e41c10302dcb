import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

export type ProcessOptions = {
  name: string
  command: readonly string[]
  env: Record<string, string | undefined>
  /** A file for what it prints. */
  log: string
  isReady: () => Promise<boolean>
  /** Hears when it ended after it had been ready, and nobody had killed it. */
  onCrash: (detail: string) => void
}

/** Something that can be killed and frozen, and comes back. */
export type Victim = {
  isUp: () => boolean
  /** `kill -9`, then a new start; resolves when it is ready again. */
  kill: () => Promise<void>
  /** SIGSTOP for so long. */
  freeze: (ms: number) => Promise<void>
  stop: () => Promise<void>
}

const FIRST_START_MS = 60_000
const RETRY_MS = 100
const POLL_MS = 40

const running = new Set<ChildProcess>()
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))

const launch = ({ command, env, log }: ProcessOptions): ChildProcess => {
  const output = openSync(log, 'a')
  const [program, ...args] = command
  const child = spawn(program!, args, { env, stdio: ['ignore', output, output] })
  closeSync(output)
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null

/** @returns whether it became ready before it ended */
const untilReady = async (child: ChildProcess, isReady: () => Promise<boolean>): Promise<boolean> => {
  while (!hasEnded(child)) {
    if (await isReady().catch(() => false)) return !hasEnded(child)
    await delay(POLL_MS)
  }
  return false
}

const untilEnded = async (child: ChildProcess): Promise<void> => {
  if (!hasEnded(child)) await once(child, 'exit')
}

/**
 * Starts a program and starts it again whenever it has ended, until it is stopped.
 *
 * @throws when it is not ready for the first time within a minute
 */
export const startVictim = async (options: ProcessOptions): Promise<Victim> => {
  const { name, log, isReady, onCrash } = options
  let child = launch(options)
  const life: { state: 'starting' | 'up' | 'killed' | 'stopped' } = { state: 'starting' }
  let up = Promise.withResolvers<void>()
  const become = (next: typeof life.state): void => {
    if (life.state !== 'stopped') life.state = next
  }

  const supervise = async (): Promise<void> => {
    while (life.state !== 'stopped') {
      if (await untilReady(child, isReady)) {
        become('up')
        up.resolve()
      }
      await untilEnded(child)
      if (life.state === 'up') onCrash(`${name} ended by itself (${child.signalCode ?? child.exitCode}): ${log}`)
      if (life.state === 'starting') await delay(RETRY_MS)
      become('starting')
      if (life.state === 'starting') child = launch(options)
    }
  }
  void supervise()
  const late = delay(FIRST_START_MS, 'late', { ref: false })
  if ((await Promise.race([up.promise, late])) === 'late') {
    become('stopped')
    child.kill('SIGKILL')
    throw new Error(`${name} did not become ready: ${log}`)
  }

  return {
    isUp: () => life.state === 'up',
    kill: async () => {
      become('killed')
      up = Promise.withResolvers()
      child.kill('SIGKILL')
      await up.promise
    },
    freeze: async (ms) => {
      const frozen = child
      frozen.kill('SIGSTOP')
      await delay(ms)
      frozen.kill('SIGCONT')
    },
    stop: async () => {
      become('stopped')
      child.kill('SIGKILL')
      await untilEnded(child)
    },
  }
}
