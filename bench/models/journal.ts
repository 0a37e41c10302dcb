import { appendFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Runs that are written down beside the benches, one to a line. */
export const journal = <Run>(name: string) => {
  const file = join(import.meta.dirname, '..', name)
  return {
    record: (run: Run): Promise<void> => appendFile(file, `${JSON.stringify(run)}\n`),
    /** All that were written down, oldest first. */
    recorded: async (): Promise<Run[]> => {
      const text = await readFile(file, 'utf8').catch(() => '')
      return text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Run)
    },
  }
}
