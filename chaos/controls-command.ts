import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { CONTROLS, controlOf } from './controls.ts'
import { buildWithout } from './cuts.ts'
import { writeControls, type Missed } from './report.ts'
import { run } from './run.ts'
import { ROOT } from './stack/bundles.ts'
import { describeVerdict } from './verdict.ts'

// Each guard must be missed: with it the run holds, without it the same run finds what the guard is there for.
//   pnpm chaos:controls [--write] [NAME...]

const SEED = 1

const tryWithout = async (name: string): Promise<Missed> => {
  const control = controlOf(name)
  const { summary, finds } = control
  const intact = await run({ ...control, seed: SEED, bundles: ROOT })
  if (!intact.holds) process.stdout.write(`with its guard: ${describeVerdict(intact)}\n`)
  const directory = await mkdtemp(join(tmpdir(), 'keelson-control-'))
  await buildWithout(control, directory)
  const cut = await run({ ...control, seed: SEED, bundles: directory })
  await rm(directory, { recursive: true, force: true })
  const found = cut.violations.filter(({ kind }) => kind === finds)
  process.stdout.write(`${name}: ${summary}\n  ${found.length} ${finds}, such as ${found[0]?.detail ?? 'none'}\n`)
  return { name, summary, finds, found: found.length, intact: intact.violations.length }
}

const { values, positionals } = parseArgs({
  options: { write: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const tried: Missed[] = []
for (const name of positionals.length > 0 ? positionals : Object.keys(CONTROLS)) tried.push(await tryWithout(name))
const unnoticed = tried.filter(({ found, intact }) => found === 0 || intact > 0)
process.stdout.write(
  unnoticed.length === 0
    ? `All ${tried.length} guards are missed when they are gone\n`
    : `NOT as it must be: ${unnoticed.map(({ name }) => name).join(', ')}\n`,
)
if (values.write) await writeControls(tried)
process.exitCode = unnoticed.length === 0 ? 0 : 1
