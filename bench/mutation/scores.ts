import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { commit } from '../harness/commit.ts'
import { table } from '../harness/results.ts'
import { writeSection } from '../harness/section.ts'

/** What the last whole run of a part came to. */
type Score = { mutants: number; noticed: number; commit: string; at: string }

const DIRECTORY = join(import.meta.dirname, '..')
const FILE = join(DIRECTORY, 'MUTATION.json')

export const percentOf = ({ mutants, noticed }: Pick<Score, 'mutants' | 'noticed'>): number => (100 * noticed) / mutants

/** Writes down what a whole run of a part came to, and puts all scores into `MUTATION.md`. */
export const recordScore = async (part: string, count: Pick<Score, 'mutants' | 'noticed'>): Promise<void> => {
  const known = JSON.parse(await readFile(FILE, 'utf8')) as Record<string, Score>
  const scores = { ...known, [part]: { ...count, commit: commit(), at: new Date().toISOString().slice(0, 10) } }
  await writeFile(FILE, `${JSON.stringify(scores, null, 2)}\n`)
  const rows = Object.entries(scores).map(([name, score]) => [
    `\`pnpm mutation ${name}\``,
    String(score.mutants),
    `${percentOf(score).toFixed(1)} %`,
    `${score.commit}, ${score.at}`,
  ])
  await writeSection(join(DIRECTORY, 'MUTATION.md'), 'scores', table(['command', 'mutants', 'noticed', 'commit'], rows))
}
