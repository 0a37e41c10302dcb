import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The file of the first of these programs in the folders of PATH. */
export const onPath = (...programs: readonly string[]): string | undefined =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .flatMap((folder) => programs.map((program) => join(folder, program)))
    .find((path) => existsSync(path))
