import { readFile, writeFile } from 'node:fs/promises'

/** The most memory that a process had resident while work was done, in MiB; `null` where the machine cannot tell. */
export const peakMemoryMiB = async (pid: number, work: () => Promise<unknown>): Promise<number | null> => {
  // Linux sets the peak back to what is resident now; see proc(5).
  const canReset = await writeFile(`/proc/${pid}/clear_refs`, '5').then(
    () => true,
    () => false,
  )
  await work()
  if (!canReset) return null
  const kibibytes = /^VmHWM:\s*(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]
  return kibibytes === undefined ? null : Number(kibibytes) / 1024
}
