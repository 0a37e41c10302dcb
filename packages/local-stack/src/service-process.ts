import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { keepProcess, type KeptProcess } from './kept-process.ts'
import {
  localUrl,
  METRICS_OFFSET,
  NODE_ENVIRONMENT,
  NODE_FLAGS,
  SERVICES,
  type Service,
  type StackEnvironment,
} from './services.ts'

const READY_DEADLINE_MS = 60_000
const NAME_WIDTH = Math.max(...SERVICES.map(({ name }) => name.length))

const passLines = (name: string, { stdout, stderr }: KeptProcess) => {
  for (const stream of [stdout, stderr]) {
    if (stream === null) continue
    createInterface({ input: stream }).on('line', (line) =>
      process.stdout.write(`${name.padEnd(NAME_WIDTH)} | ${line}\n`),
    )
  }
}

/** Starts one service from its bundle on 127.0.0.1; its log lines come out behind its name. */
export const startService = (root: string, service: Service, stack: StackEnvironment): KeptProcess => {
  const { PATH, HOME, TMPDIR, LOG_LEVEL, NODE_OPTIONS, NODE_COMPILE_CACHE } = process.env
  const port = stack.port[service.name]
  const listen = {
    HOST: '127.0.0.1',
    PORT: String(port),
    METRICS_PORT: String(port + METRICS_OFFSET),
    DRAIN_TIMEOUT: '10s',
  }
  const passed = { PATH, HOME, TMPDIR, LOG_LEVEL, NODE_OPTIONS, NODE_COMPILE_CACHE }
  const env = { ...passed, ...NODE_ENVIRONMENT, ...listen, ...service.env(stack) }
  const started = keepProcess([process.execPath, ...NODE_FLAGS, join(root, service.bundle)], {
    env,
    stopSignal: 'TERM',
    output: 'pipe',
  })
  passLines(service.name, started)
  return started
}

const isReady = (url: string) =>
  fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2000) }).then(
    async (response) => {
      await response.body?.cancel()
      return response.ok
    },
    () => false,
  )

/** @throws when the service is not ready in 60 s; the signal's reason when that fires first */
export const waitUntilReady = async (service: Service, stack: StackEnvironment, signal: AbortSignal) => {
  const url = localUrl(stack.port[service.name])
  const deadline = Date.now() + READY_DEADLINE_MS
  while (!(await isReady(url))) {
    signal.throwIfAborted()
    if (Date.now() > deadline)
      throw new Error(`${service.name} did not become ready in ${READY_DEADLINE_MS / 1000} s (${url}/readyz)`)
    await delay(25)
  }
}
