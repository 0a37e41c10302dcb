import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Load, Loaded } from './load-process.ts'

export type BenchService = Disposable & { url: string; tokens: string[]; account_id: string; pid: number }

const forked = (file: string, args: string[] = []): ChildProcess =>
  fork(new URL(file, import.meta.url), args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })

/** agent-api with one writer or the other, as a process that ends with this one. */
export const startBenchService = async (databaseUrl: string, mode: 'group' | 'single'): Promise<BenchService> => {
  const child = forked('service.ts', [databaseUrl, mode])
  const [told] = (await once(child, 'message')) as [Omit<BenchService, symbol>]
  return { ...told, [Symbol.dispose]: () => void child.kill() }
}

/** A process that makes load, so that its work is not the service's. */
export const startLoader = () => {
  const child = forked('load-process.ts')
  return {
    run: async (load: Load): Promise<Loaded> => {
      child.send(load)
      const [outcome] = (await once(child, 'message')) as [Loaded | { error: string }]
      if ('error' in outcome) throw new Error(outcome.error)
      return outcome
    },
    [Symbol.dispose]: () => void child.kill(),
  }
}

export type Loader = ReturnType<typeof startLoader>
