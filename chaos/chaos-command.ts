import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { controlOf } from './controls.ts'
import { buildWithout } from './cuts.ts'
import { runEverything } from './everything.ts'
import { parseOptions } from './options.ts'
import { writeVerdicts } from './report.ts'
import { run } from './run.ts'
import { describeVerdict, type Verdict } from './verdict.ts'

const withoutGuard = async (name: string, seed: number): Promise<Verdict> => {
  const control = controlOf(name)
  const directory = await mkdtemp(join(tmpdir(), 'keelson-control-'))
  try {
    await buildWithout(control, directory)
    return await run({ ...control, seed, bundles: directory })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

const args = process.argv.slice(2)
const { minutes, seeds, control, write } = parseOptions(args)
const verdicts: Verdict[] = []
const without: number[] = []
for (const seed of seeds) {
  const replay = `pnpm chaos ${control === null ? `--minutes ${minutes}` : `--control ${control}`} --seed ${seed}`
  try {
    const verdict = await (control === null ? runEverything(seed, minutes) : withoutGuard(control, seed))
    process.stdout.write(`${describeVerdict(verdict)}\n`)
    if (!verdict.holds) process.stdout.write(`Again: ${replay}\n`)
    verdicts.push(verdict)
  } catch (error) {
    process.stderr.write(`seed ${seed} came to no verdict: ${inspect(error)}\nAgain: ${replay}\n`)
    without.push(seed)
  }
  // After each seed, so that nothing is lost when a later one is broken off.
  if (write && control === null) await writeVerdicts({ verdicts, without, command: `pnpm chaos ${args.join(' ')}` })
}
process.exitCode = without.length === 0 && verdicts.every(({ holds }) => holds) ? 0 : 1
