import type { Count, QueueLog } from './observer.ts'

/** Collects what a queue counts and logs. */
export const recorder = () => {
  const counted: Parameters<Count>[] = []
  const lines: string[] = []
  const line = (level: string) => (_: object, message: string) => void lines.push(`${level} ${message}`)
  const tally = (series: string): Record<string, number> => {
    const results: Record<string, number> = {}
    for (const [name, { result }] of counted) if (name === series) results[result] = (results[result] ?? 0) + 1
    return results
  }
  const count: Count = (...increment) => void counted.push(increment)
  const log: QueueLog = { info: line('info'), warn: line('warn'), error: line('error') }
  return {
    count,
    log,
    lines: () => lines,
    rings: () => tally('queue_rings_total'),
    jobs: () => tally('queue_jobs_total'),
  }
}
