import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

type Report = { numPassedTests: number; numFailedTests: number; numPendingTests: number }

const root = resolve(import.meta.dirname, '../../..')
const stop = new AbortController()
// A terminal's Ctrl-C reaches the children by itself; they end, and so does this.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort())

const run = (program: string, args: string[]) =>
  new Promise<number>((resolve) => {
    const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' }
    const child = spawn(join(root, 'node_modules', '.bin', program), args, {
      cwd: root,
      env,
      stdio: 'inherit',
      signal: stop.signal,
    })
    child.once('error', () => {})
    child.once('close', (code) => resolve(code ?? 1))
  })

// A suite that does not load, or an error outside every test, fails the run without a failed test: count it as one.
const summary = (report: Report | null, code: number) => {
  const {
    numPassedTests: passed,
    numFailedTests,
    numPendingTests: skipped,
  } = report ?? { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0 }
  const failed = code === 0 ? numFailedTests : Math.max(1, numFailedTests)
  return `${passed} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}\n`
}

const readReport = (file: string): Promise<Report | null> =>
  readFile(file, 'utf8').then(
    (text) => JSON.parse(text),
    () => null,
  )

// `npm test`: the bundles that the end-to-end tests start, then every test. The last line is the sum.
const main = async (args: string[]) => {
  const built = await run('turbo', ['run', 'build', '--output-logs=errors-only', '--no-update-notifier'])
  const directory = await mkdtemp(join(tmpdir(), 'keelson-report-'))
  const file = join(directory, 'report.json')
  const code =
    built === 0
      ? await run('vitest', ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${file}`, ...args])
      : built
  const report = await readReport(file)
  await rm(directory, { recursive: true, force: true })
  process.stdout.write(summary(report, code))
  return code
}

process.exitCode = await main(process.argv.slice(2))
