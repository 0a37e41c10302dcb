import { fork, type ChildProcess } from 'node:child_process'
import { NODE_ENVIRONMENT, NODE_FLAGS } from '@keelson/local-stack'
import type { Load, Loaded } from './load-process.ts'
import type { Offered, OpenLoad } from './open-loop-process.ts'

export type Started<Told> = Told & Disposable & { pid: number }

const forked = (file: URL, args: readonly string[] = []): ChildProcess =>
  fork(file, args, {
    execArgv: NODE_FLAGS,
    env: { ...process.env, ...NODE_ENVIRONMENT },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })

const nextMessage = (child: ChildProcess): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`a benchmark's process ended with ${code}`))
    child.once('exit', onExit)
    child.once('message', (message) => {
      child.off('exit', onExit)
      resolve(message)
    })
  })

/** Starts a file as a process that ends with this one, and resolves with the first thing it tells. */
export const startProcess = async <Told extends object>(file: URL, args: string[] = []): Promise<Started<Told>> => {
  const child = forked(file, args)
  const told = (await nextMessage(child)) as Told
  return { ...told, pid: child.pid ?? 0, [Symbol.dispose]: () => void child.kill('SIGKILL') }
}

/** What the processes that make load are asked, and what they tell. */
type Loads = {
  'load-process.ts': { asked: Load; told: Loaded }
  'open-loop-process.ts': { asked: OpenLoad; told: Offered }
}

/** A process that makes load, so that its work is not the service's. */
const startLoading = <File extends keyof Loads>(file: File) => {
  const child = forked(new URL(file, import.meta.url))
  return {
    run: async (load: Loads[File]['asked']): Promise<Loads[File]['told']> => {
      child.send(load)
      const outcome = (await nextMessage(child)) as Loads[File]['told'] | { error: string }
      if ('error' in outcome) throw new Error(outcome.error)
      return outcome
    },
    [Symbol.dispose]: () => void child.kill(),
  }
}

/** Callers who wait for one answer before they ask again. */
export const startLoader = () => startLoading('load-process.ts')

/** Callers who come whether or not others have been answered. */
export const startOpenLoader = () => startLoading('open-loop-process.ts')

export type Loader = ReturnType<typeof startLoader>
