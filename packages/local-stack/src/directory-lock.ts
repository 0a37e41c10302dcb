import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { commandOf } from './command-of.ts'
import { UsageError } from './options.ts'

// A process number is used again one day: only a living process that looks like ours holds the lock.
const isRunning = async (pid: number) => (await commandOf(pid)).includes('local-stack')

/**
 * Takes `directory` for this process until disposed; a lock left by a killed process is taken over.
 *
 * @throws UsageError when another running stack has it
 */
export const lockDirectory = async (directory: string): Promise<AsyncDisposable> => {
  const path = join(directory, 'lock')
  await mkdir(directory, { recursive: true, mode: 0o700 })
  for (let tries = 0; tries < 3; tries += 1) {
    try {
      await writeFile(path, `${process.pid}\n`, { flag: 'wx', mode: 0o600 })
      return { [Symbol.asyncDispose]: () => rm(path, { force: true }) }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const holder = Number(await readFile(path, 'utf8').catch(() => ''))
    if (holder > 0 && holder !== process.pid && (await isRunning(holder))) {
      throw new UsageError(
        `Keelson already runs on ${directory} (process ${holder}). Stop it first, or start this one with --directory <other>`,
      )
    }
    await rm(path, { force: true })
  }
  throw new UsageError(`Another start took ${directory} at the same moment: try again`)
}
