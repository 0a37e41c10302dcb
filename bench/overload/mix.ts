import type { Request } from '../harness/exchange.ts'
import type { OpenLoad } from '../harness/open-loop-process.ts'
import type { RunningServices } from '../harness/services.ts'

const AT_A_TIME = 8

export type Mix = OpenLoad['mix']

/** What a service is asked on a busy day. */
export type ServiceMix = {
  /** Makes so many objects of each kind, which are asked for in turn. */
  layOut: (services: RunningServices, count: number) => Promise<void>
  mix: (key: string) => Mix
}

export const inBatches = async (count: number, work: (n: number) => Promise<unknown>): Promise<void> => {
  const numbers = Array.from({ length: count }, (_, n) => n)
  for (let from = 0; from < count; from += AT_A_TIME) await Promise.all(numbers.slice(from, from + AT_A_TIME).map(work))
}

export const weighted = (headers: Record<string, string>, mix: readonly [number, Request][]): Mix =>
  mix.map(([weight, request]) => ({ weight, request: { ...request, headers } }))
