import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const fromPs = (pid: number) =>
  promisify(execFile)('ps', ['-o', 'command=', '-p', String(pid)]).then(
    ({ stdout }) => stdout.trim(),
    () => '',
  )

/** The command line of a running process; empty when there is none of that number. A small Linux may lack `ps`. */
export const commandOf = async (pid: number): Promise<string> => {
  if (process.platform !== 'linux') return fromPs(pid)
  const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return text.replaceAll('\0', ' ').trim()
}
