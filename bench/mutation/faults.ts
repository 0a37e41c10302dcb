import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Faults } from './parts.ts'

const ROOT = join(import.meta.dirname, '../..')

type Result = { fullName: string; status: string }
type Report = { testResults: { assertionResults: Result[] }[] }

const vitest = (args: readonly string[]): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn('vitest', ['run', '--project', 'integration', ...args], { cwd: ROOT, stdio: 'inherit' })
    child.once('error', reject)
    child.once('close', () => resolve())
  })

/** Runs the tests that make faults. @returns how many faults there were, and the names of those that no test noticed */
export const countFaults = async ({ tests, named }: Faults, report: string) => {
  await vitest([...tests, '-t', named, '--reporter=default', '--reporter=json', `--outputFile.json=${report}`])
  const { testResults } = JSON.parse(await readFile(report, 'utf8')) as Report
  const results = testResults.flatMap(({ assertionResults }) => assertionResults)
  const made = results.filter(
    ({ fullName, status }) => fullName.includes(named) && ['passed', 'failed'].includes(status),
  )
  return { made: made.length, alive: made.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName) }
}
