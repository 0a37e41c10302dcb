import { execFileSync } from 'node:child_process'

export type Process = { pid: number; ppid: number; command: string }

/** Every process below `root`, however deep, that is running now. */
export const descendants = (root: number): Process[] => {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,command='], { encoding: 'utf8' })
  const all = table.split('\n').flatMap((line): Process[] => {
    const [, pid, ppid, command] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []
    return command === undefined ? [] : [{ pid: Number(pid), ppid: Number(ppid), command }]
  })
  const below = (pid: number): Process[] =>
    all.filter(({ ppid }) => ppid === pid).flatMap((child) => [child, ...below(child.pid)])
  return below(root)
}

/** The process ids of `candidates` that still run; a zombie does not. */
export const stillRunning = (candidates: readonly number[]): number[] => {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,stat='], { encoding: 'utf8' })
  const running = new Set([...table.matchAll(/^\s*(\d+)\s+([^Z\s]\S*)$/gm)].map((match) => Number(match[1])))
  return candidates.filter((pid) => running.has(pid))
}
