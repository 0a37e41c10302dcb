import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

export type Process = { pid: number; ppid: number; zombie: boolean; command: string }

const fromProc = (pid: string): Process[] => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state, ppid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
    return [{ pid: Number(pid), ppid: Number(ppid), zombie: state === 'Z', command }]
  } catch {
    return []
  }
}

const fromPs = (line: string): Process[] => {
  const [, pid, ppid, state, command] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? []
  if (command === undefined) return []
  return [{ pid: Number(pid), ppid: Number(ppid), zombie: state?.startsWith('Z') ?? false, command }]
}

// A small Linux may lack `ps`.
const all = (): Process[] => {
  if (process.platform === 'linux')
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? fromProc(name) : []))
  return execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat=,command='], { encoding: 'utf8' }).split('\n').flatMap(fromPs)
}

/** Every process below `root`, however deep, that is running now. */
export const descendants = (root: number): Process[] => {
  const table = all()
  const below = (pid: number): Process[] =>
    table.filter(({ ppid }) => ppid === pid).flatMap((child) => [child, ...below(child.pid)])
  return below(root)
}

/** The process ids of `candidates` that still run; a zombie does not. */
export const stillRunning = (candidates: readonly number[]): number[] => {
  const running = new Set(all().flatMap(({ pid, zombie }) => (zombie ? [] : [pid])))
  return candidates.filter((pid) => running.has(pid))
}
