import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { countFaults } from './mutation/faults.ts'
import { faults, parts, type Faults, type Part } from './mutation/parts.ts'
import { percentOf, recordScore } from './mutation/scores.ts'

// pnpm mutation [PART…] [--only FILE [--lines FROM-TO]] [--resume]
//
// Changes the parts that must not be wrong in every way that Stryker knows, one at a time, and tells how many of the
// changes a test noticed. Scores of whole parts are written into MUTATION.md, which explains the mutants that live on.
//
// A part that takes long can be done in pieces: --only changes the files whose path contains this, or some of their
// lines, and --resume also counts what was found before with it where neither code nor tests changed since.

const LEAST_SCORE = 90
const ROOT = join(import.meta.dirname, '..')

type Mutant = { status: string; mutatorName: string; replacement?: string; location: { start: { line: number } } }
type Report = { files: Record<string, { mutants: Mutant[] }> }

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', default: '' },
    lines: { type: 'string' },
    resume: { type: 'boolean', default: false },
  },
})

const optionsOf = (name: string, { mutate }: Part, report: string) => ({
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'bench/mutation/vitest.config.ts', related: false },
  mutate: mutate
    .filter((file) => file.includes(values.only))
    .map((file) => (values.lines === undefined ? file : `${file}:${values.lines}`)),
  ...(values.resume && { incremental: true, incrementalFile: `.keelson/mutation/${name}.json` }),
  ignorePatterns: ['**/dist', '.keelson', '.turbo'],
  // Stryker rewrites the paths in a tsconfig.json, for which TypeScript 7 has no API; ours names nothing it changes.
  tsconfigFile: 'none',
  coverageAnalysis: 'perTest',
  concurrency: 2,
  timeoutMS: 5_000,
  timeoutFactor: 4,
  reporters: ['json', 'progress-append-only'],
  jsonReporter: { fileName: report },
  tempDirName: '.stryker-tmp',
})

const stryker = (options: string, part: Part): Promise<void> =>
  new Promise((resolve, reject) => {
    const env = {
      ...process.env,
      MUTATION_TESTS: part.tests.join(','),
      ...(part.services && { MUTATION_SERVICES: '1' }),
      ...(part.without !== undefined && { MUTATION_WITHOUT: part.without }),
    }
    const child = spawn('stryker', ['run', options], { cwd: ROOT, env, stdio: ['ignore', 'inherit', 'inherit'] })
    child.once('error', reject)
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`stryker ended with ${code}`))))
  })

const isNoticed = ({ status }: Mutant) => status === 'Killed' || status === 'Timeout'
const counts = ({ status }: Mutant) =>
  isNoticed({ status } as Mutant) || status === 'Survived' || status === 'NoCoverage'

const scoreOf = async (name: string, mutants: number, alive: number, isWhole: boolean): Promise<number> => {
  const count = { mutants, noticed: mutants - alive }
  process.stdout.write(`${name}: ${percentOf(count).toFixed(1)} % of ${mutants} mutants noticed\n`)
  if (isWhole) await recordScore(name, count)
  return percentOf(count)
}

const runFaults = async (name: string, part: Faults, directory: string): Promise<number> => {
  const { made, alive } = await countFaults(part, join(directory, `${name}.report.json`))
  for (const fault of alive) process.stdout.write(`Survived ${fault}\n`)
  return scoreOf(name, made, alive.length, true)
}

/** The share of mutants that a test noticed, in percent. */
const runPart = async (name: string, part: Part, directory: string): Promise<number> => {
  const report = join(directory, `${name}.report.json`)
  const options = join(directory, `${name}.json`)
  await writeFile(options, JSON.stringify(optionsOf(name, part, report)))
  await stryker(options, part)
  const { files } = JSON.parse(await readFile(report, 'utf8')) as Report
  const mutants = Object.entries(files).flatMap(([file, { mutants }]) => mutants.map((one) => ({ file, ...one })))
  const counted = mutants.filter(counts)
  const alive = counted.filter((mutant) => !isNoticed(mutant))
  for (const { file, location, mutatorName, replacement = '', status } of alive)
    process.stdout.write(
      `${status} ${file}:${location.start.line} ${mutatorName} -> ${replacement.replaceAll(/\s+/g, ' ')}\n`,
    )
  const isWhole = values.lines === undefined && part.mutate.every((file) => file in files)
  return scoreOf(name, counted.length, alive.length, isWhole)
}

const run = (name: string, directory: string): Promise<number> => {
  const [part, faulty] = [parts[name], faults[name]]
  if (part !== undefined) return runPart(name, part, directory)
  if (faulty !== undefined) return runFaults(name, faulty, directory)
  throw new Error(`no part ${name}; there are ${NAMES.join(', ')}`)
}

const NAMES = [...Object.keys(parts), ...Object.keys(faults)]
const names = positionals.length > 0 ? positionals : NAMES
const directory = await mkdtemp(join(tmpdir(), 'keelson-mutation-'))
try {
  // Not a number, and so not enough, where nothing was counted.
  for (const name of names) if (!((await run(name, directory)) >= LEAST_SCORE)) process.exitCode = 1
} finally {
  await rm(directory, { recursive: true, force: true })
}
