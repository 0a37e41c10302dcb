import { readFile } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { commit } from '@keelson/bench/harness/commit'
import { writeSection } from '@keelson/bench/harness/section'
import { CONTROLS } from './controls.ts'
import { AREAS, type Violation } from './history.ts'
import { ROOT } from './stack/bundles.ts'
import type { Verdict } from './verdict.ts'

const FILE = join(ROOT, 'bench', 'CHAOS.md')
const README = join(ROOT, 'README.md')

const machine = (): string =>
  `${cpus().length} x ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}, ${process.platform} ${process.arch}`

const measured = (): string => `commit ${commit()}, ${new Date().toISOString().slice(0, 10)}`

const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)

const struck = ({ strikes }: Verdict, prefix: string): number =>
  sum(Object.entries(strikes).flatMap(([name, count]) => (name.startsWith(prefix) ? [count] : [])))

const runRow = (name: string, verdicts: readonly Verdict[]) => [
  name,
  (sum(verdicts.map(({ faultsMs }) => faultsMs)) / 60_000).toFixed(1),
  ...['kill', 'freeze', 'redis', 'network', 'vendor'].map((prefix) => sum(verdicts.map((one) => struck(one, prefix)))),
  sum(verdicts.map(({ acceptedWrites }) => acceptedWrites)),
  sum(verdicts.map(({ violations }) => violations.length)),
]

const killRows = (verdicts: readonly Verdict[]) => {
  const names = [...new Set(verdicts.flatMap(({ strikes }) => Object.keys(strikes)))].filter((name) =>
    name.startsWith('kill '),
  )
  return names.toSorted().map((name) => [name.slice(5), sum(verdicts.map((one) => one.strikes[name] ?? 0))])
}

const areaRows = (verdicts: readonly Verdict[]) =>
  AREAS.map((area) => {
    const count = (key: 'acceptedWrites' | 'ok' | 'failed' | 'unknown') =>
      sum(verdicts.map((one) => one.areas[area][key]))
    return [area, count('acceptedWrites'), count('ok'), count('failed'), count('unknown')]
  })

const RUN_HEAD = [
  'seed',
  'minutes',
  'kill -9',
  'freezes',
  'Redis emptied',
  'network',
  'vendor',
  'accepted writes',
  'violations',
]

/** What `pnpm chaos` came to: the verdicts of its seeds, and the seeds whose run broke off without one. */
export type Outcome = { verdicts: readonly Verdict[]; without: readonly number[]; command: string }

const summary = ({ verdicts, without }: Outcome): string => {
  const [kills, writes, minutes, violations] = [
    sum(verdicts.map((one) => one.kills)),
    sum(verdicts.map(({ acceptedWrites }) => acceptedWrites)),
    sum(verdicts.map(({ faultsMs }) => faultsMs)) / 60_000,
    sum(verdicts.map((one) => one.violations.length)),
  ]
  const found =
    violations === 0 ? 'nothing lost, doubled, stuck, seen by strangers or inconsistent' : `${violations} violations`
  const broken = without.length === 0 ? '' : ` Without a verdict: seed ${without.join(', ')}.`
  return `**${kills.toLocaleString('en')} kills, ${writes.toLocaleString('en')} accepted writes, ${minutes.toFixed(1)} minutes: ${found}.**${broken}`
}

/** Writes the verdict into the report, and its sum into the README. */
export const writeVerdicts = async (outcome: Outcome): Promise<void> => {
  const { verdicts, command } = outcome
  await writeSection(README, 'survival', `${summary(outcome)} [The verdict](bench/CHAOS.md#verdict)`)
  await writeSection(
    FILE,
    'verdict',
    [
      summary(outcome),
      `\`${command}\`; ${measured()}; ${machine()}.`,
      table(RUN_HEAD, [...verdicts.map((one) => runRow(String(one.seed), [one])), runRow('**all**', verdicts)]),
      table(['killed', 'times'], killRows(verdicts)),
      table(['area', 'accepted writes', 'ok', 'refused', 'unknown'], areaRows(verdicts)),
    ].join('\n\n'),
  )
}

export type Missed = { name: string; summary: string; finds: Violation['kind']; found: number; intact: number }

/** The rows that a section holds by now, by their first cell. */
const rowsOf = async (section: string): Promise<Map<string, string[]>> => {
  const [, text = ''] =
    new RegExp(`<!-- ${section} -->([^]*)<!-- /${section} -->`).exec(await readFile(FILE, 'utf8')) ?? []
  const rows = text.split('\n').filter((line) => line.startsWith('| '))
  return new Map(rows.map((line) => line.slice(2, -2).split(' | ')).map((cells) => [cells[0]!, cells]))
}

/** Writes what became of these controls; what others came to before stays. */
export const writeControls = async (controls: readonly Missed[]): Promise<void> => {
  const before = await rowsOf('controls')
  const now = new Map(
    controls.map(({ name, summary, finds, found, intact }) => [
      name,
      [name, summary, intact, `${found} ${finds}`, measured()],
    ]),
  )
  const rows = Object.keys(CONTROLS).flatMap((name) => {
    const row = now.get(name) ?? before.get(name)
    return row === undefined ? [] : [row]
  })
  const head = ['guard', 'without it', 'violations with it', 'found without it', 'measured']
  await writeSection(FILE, 'controls', table(head, rows))
}
