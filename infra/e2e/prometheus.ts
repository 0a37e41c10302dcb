import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { freePort, keepProcess } from '@keelson/local-stack'
import { eventually } from '@keelson/testing'

/** Where a program is on the PATH; `undefined` when it is not. */
export const onPath = (name: string): string | undefined =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path))

type Alerts = { data: { alerts: { state: string; labels: { alertname: string } }[] } }

const configuration = (rules: string, targets: Record<string, string>) => ({
  global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
  rule_files: [rules],
  scrape_configs: Object.entries(targets).map(([job_name, url]) => ({
    job_name,
    static_configs: [{ targets: [new URL(url).host] }],
  })),
})

/**
 * Prometheus on the metrics of these jobs, with these rules, which fire as soon as they hold: how long they must hold
 * first is left out, nothing else is.
 */
export const startPrometheus = async (rulesFile: string, targets: Record<string, string>) => {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'keelson-prometheus-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const rules = join(directory, 'rules.yaml')
  await promisify(execFile)(onPath('promtool') ?? 'promtool', ['check', 'rules', rulesFile])
  await writeFile(rules, (await readFile(rulesFile, 'utf8')).replaceAll(/^ +for: .*$/gm, ''))
  const config = join(directory, 'prometheus.json')
  await writeFile(config, JSON.stringify(configuration(rules, targets)))
  const port = await freePort()
  const server = keepProcess(
    [
      onPath('prometheus') ?? 'prometheus',
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { env: process.env, stopSignal: 'TERM', output: 'pipe' },
  )
  stack.defer(async () => void (await server.stop()))
  const url = `http://127.0.0.1:${port}`
  await eventually(async () => {
    if (!(await fetch(`${url}/-/ready`)).ok) throw new Error('Prometheus is not ready')
  })
  const owned = stack.move()
  return {
    /** The names of the alerts that fire now. */
    firing: async (): Promise<Set<string>> => {
      const { data } = (await (await fetch(`${url}/api/v1/alerts`)).json()) as Alerts
      return new Set(data.alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname))
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

export type Prometheus = Awaited<ReturnType<typeof startPrometheus>>
