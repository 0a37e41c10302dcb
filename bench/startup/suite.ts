import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { Suite } from '../harness/bench.ts'
import { startServices, type Supervised } from './start.ts'

const restartMs = async (service: Supervised): Promise<number> => {
  await service.kill()
  const started = performance.now()
  await service.restart()
  return performance.now() - started
}

const residentMb = async (pid: number): Promise<number> =>
  (Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024) / 1_000_000

/** How soon each service is ready, and what it takes with nothing to do. */
export const startup: Suite = {
  title: 'Startup and rest',
  run: async (bench) => {
    await using services = await startServices()
    for (const [name, service] of services.running) {
      const measure = () => restartMs(service)
      await bench.measure({ name: `${name} until it is ready`, unit: 'ms', goal: { atMost: 1_000 }, measure })
    }
    if (process.platform !== 'linux') return
    await delay(bench.seconds * 1_500)
    for (const [service, { pid }] of services.running) {
      const name = `${service} with nothing to do, resident memory`
      bench.value({ name, unit: 'MB', goal: { atMost: 120 }, values: [await residentMb(pid())] })
    }
  },
}
