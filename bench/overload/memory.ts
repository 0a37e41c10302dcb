import { setTimeout as delay } from 'node:timers/promises'
import { median } from '../harness/figures.ts'

const EVERY_MS = 250

/** Bytes that a service holds, by one of the gauges it tells Prometheus. */
const gaugeOf = async (metricsUrl: string): Promise<number> => {
  const text = await (await fetch(`${metricsUrl}/metrics`)).text()
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1])
}

/** Reads the resident memory of a service again and again. */
export const watchMemory = (metricsUrl: string) => {
  const readings: number[] = []
  const stopping = new AbortController()
  const read = async () => {
    while (!stopping.signal.aborted) {
      readings.push(await gaugeOf(metricsUrl))
      await delay(EVERY_MS)
    }
  }
  const reading = read()
  return {
    /** The median of the last quarter, of that of the second one. */
    growth: (): number => {
      const quarter = Math.max(1, Math.floor(readings.length / 4))
      return median(readings.slice(-quarter)) / median(readings.slice(quarter, 2 * quarter))
    },
    [Symbol.asyncDispose]: async () => {
      stopping.abort()
      await reading
    },
  }
}
