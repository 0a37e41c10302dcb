import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import type { CrashStack } from './crash.ts'

/** A backend may have ended since it was looked up. */
const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Stops every process of Postgres where it stands; disposing lets them go on. */
export const freezePostgres = (stack: CrashStack): Disposable => {
  const pids = stack.postgresPids()
  for (const pid of pids) signal(pid, 'SIGSTOP')
  return {
    [Symbol.dispose]: () => {
      for (const pid of pids) signal(pid, 'SIGCONT')
    },
  }
}

const residentMiB = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

/** Looks at the memory of a process ten times a second. */
export const watchMemory = (pid: number) => {
  let peakMiB = 0
  const timer = setInterval(() => (peakMiB = Math.max(peakMiB, residentMiB(pid))), 100)
  return {
    /** The most it has had so far. */
    peakMiB: () => peakMiB,
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

const PAYLOAD = Buffer.alloc(3.3 * 1_048_576, 'x')

const largeSpan = (id: string, separator: string): Buffer[] => [
  Buffer.from(`${separator}{"id":"${id}","trace_id":"large","name":"n","start_time":"2026-01-01","input":{"text":"`),
  PAYLOAD,
  Buffer.from('"}}'),
]

/**
 * Sends a batch of 10 MiB, of which this process holds no copy.
 * @returns the status of the answer; 0 without one
 */
export const sendLargeBatch = ({ url, api_key }: CrashStack, name: string): Promise<number> =>
  new Promise((resolve) => {
    const spans = ['', ',', ','].flatMap((separator, index) => largeSpan(`${name}-${index}`, separator))
    const chunks = [Buffer.from('{"spans":['), ...spans, Buffer.from(']}')]
    const headers = {
      authorization: `Bearer ${api_key}`,
      'content-type': 'application/json',
      'content-length': chunks.reduce((sum, { length }) => sum + length, 0),
    }
    const sending = request(`${url}/spans/batch`, { method: 'POST', headers, agent: false })
    sending.on('response', (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
    pipeline(Readable.from(chunks), sending, (error) => error && setTimeout(resolve, 1000, 0))
  })
