import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { freePort } from '@keelson/local-stack'
import { createKeyFile } from '@keelson/secrets'

const ROOT = join(import.meta.dirname, '..', '..')

type Builder = { bundleApp: (app: string, dist: string) => Promise<void> }

/** The deployer as it is shipped, in a temporary directory: its memory depends on how it is bundled. */
export const bundleDeployer = async () => {
  const directory = await mkdtemp(join(tmpdir(), 'keelson deployer '))
  const dist = join(directory, 'dist')
  const { bundleApp } = (await import(pathToFileURL(join(ROOT, 'bundle-app.ts')).href)) as Builder
  await bundleApp(join(ROOT, 'apps', 'deployer'), dist)
  const key_file = join(directory, 'keys')
  await createKeyFile(key_file)
  return {
    directory,
    main: join(dist, 'main.js'),
    key_file,
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  }
}

export type DeployerBundle = Awaited<ReturnType<typeof bundleDeployer>>

/** Starts a deployer; ends with this process. */
export const startDeployer = async ({ main, key_file }: DeployerBundle, settings: Record<string, string>) => {
  const [port, metrics] = [await freePort(), await freePort()]
  const own = { KEY_FILE: key_file, ALLOW_DATABASE_OWNER: 'true', LOG_LEVEL: 'fatal' }
  const ports = { PORT: String(port), METRICS_PORT: String(metrics) }
  const child = spawn(process.execPath, [main], {
    env: { PATH: process.env['PATH'], ...own, ...ports, ...settings },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const stop = () => void child.kill('SIGKILL')
  process.on('exit', stop)
  while (
    !(await fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ))
  )
    await delay(50)
  return {
    metricsUrl: `http://127.0.0.1:${metrics}/metrics`,
    /** What it holds of the machine's memory, in bytes. Linux. */
    residentBytes: async (): Promise<number> => {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8')
      return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024
    },
    /** The share of one core that it takes while nothing is asked of it, measured over a time. */
    cpuShare: async (ms: number): Promise<number> => {
      const ticks = async () => {
        const stat = await readFile(`/proc/${child.pid}/stat`, 'utf8')
        const fields = stat
          .slice(stat.lastIndexOf(')') + 2)
          .split(' ')
          .map(Number)
        return (fields[11] ?? 0) + (fields[12] ?? 0)
      }
      const before = await ticks()
      await delay(ms)
      // Linux counts in hundredths of a second (USER_HZ).
      return ((await ticks()) - before) / (ms / 10)
    },
    [Symbol.dispose]: () => {
      process.off('exit', stop)
      stop()
    },
  }
}
