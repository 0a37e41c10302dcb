import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

const { minutes, seeds, control, write } = parseOptions(process.argv.slice(2))
const verdicts: Verdict[] = []
for (const seed of seeds) {
  const verdict = await (control === null ? runEverything(seed, minutes) : withoutGuard(control, seed))
  process.stdout.write(`${describeVerdict(verdict)}\n`)
  verdicts.push(verdict)
}
if (write && control === null) await writeVerdicts(verdicts)
process.exitCode = verdicts.every(({ holds }) => holds) ? 0 : 1
