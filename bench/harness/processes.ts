import { fork, type ChildProcess } from 'node:child_process'
import type { Load, Loaded } from './load-process.ts'
import type { Offered, OpenLoad } from './open-loop-process.ts'

export type Started<Told> = Told & Disposable & { pid: number }

const forked = (file: URL, args: readonly string[] = []): ChildProcess =>
  fork(file, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })

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

/** A process that makes load, so that its work is not the service's. */
const startLoading = <Asked, Told extends object>(file: string) => {
  const child = forked(new URL(file, import.meta.url))
  return {
    run: async (load: Asked): Promise<Told> => {
      child.send(load as object)
      const outcome = (await nextMessage(child)) as Told | { error: string }
      if ('error' in outcome) throw new Error(outcome.error)
      return outcome
    },
    [Symbol.dispose]: () => void child.kill(),
  }
}

/** Callers who wait for one answer before they ask again. */
export const startLoader = () => startLoading<Load, Loaded>('load-process.ts')

/** Callers who come whether or not others have been answered. */
export const startOpenLoader = () => startLoading<OpenLoad, Offered>('open-loop-process.ts')

export type Loader = ReturnType<typeof startLoader>
