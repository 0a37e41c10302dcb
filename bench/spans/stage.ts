import type { Database } from '@keelson/database'
import type { Bench } from '../harness/bench.ts'
import type { Load, Request } from '../harness/load-process.ts'
import { startProcess, type Loader, type Started } from '../harness/processes.ts'

export type SpanService = Started<{ url: string; tokens: string[]; account_id: string }>

/** What the figures of spans are measured on. */
export type Stage = {
  bench: Bench
  /** The service as it is, and with one statement for each request. */
  group: SpanService
  single: SpanService
  loader: Loader
  db: Database
  /** Told apart in the figures' names. */
  name: string
}

/** agent-api with one writer or the other, as a process of its own. */
export const startSpanService = (databaseUrl: string, mode: 'group' | 'single'): Promise<SpanService> =>
  startProcess(new URL('service.ts', import.meta.url), [databaseUrl, mode])

export const loadOf = (
  { bench }: Stage,
  { url, tokens }: SpanService,
  request: Request,
  connections: number,
  numbers: Pick<Load, 'from' | 'count'> = {},
): Load => {
  const requests = tokens.map((token) => ({ ...request, headers: { authorization: `Bearer ${token}` } }))
  return { url, requests, connections, seconds: bench.seconds, ...numbers }
}

export const textOf = (length: number) => 'All work and no play makes a dull benchmark. '.repeat(30).slice(0, length)
