import { execFileSync } from 'node:child_process'

/** What a run writes itself does not make the tree another one. */
const WRITTEN = [
  'README.md',
  'bench/README.md',
  'bench/RESULTS.md',
  'bench/RESULTS.json',
  'bench/CHAOS.md',
  'bench/MUTATION.json',
  'bench/MUTATION.md',
  'bench/models-faults.jsonl',
  'bench/models-soak.jsonl',
  'bench/plots',
].map((path) => `:(top,exclude)${path}`)

const git = (...args: string[]): string =>
  execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' }).trim()

/** The commit that runs here, marked when the tree holds more than it; `unknown` outside of a clone. */
export const commit = (): string => {
  try {
    const changes = git('status', '--porcelain', '--', ':/', ...WRITTEN)
    return git('rev-parse', '--short', 'HEAD') + (changes === '' ? '' : '-dirty')
  } catch {
    return 'unknown'
  }
}
