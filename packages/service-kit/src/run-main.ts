import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { ConfigError } from './config.ts'
import { createLogger, type Logger } from './logger.ts'

/** `EX_CONFIG` of sysexits.h: a restart will not help. */
const EXIT_CONFIG = 78
const EXIT_INTERRUPTED = 130

export type Main = (stack: AsyncDisposableStack, signal: AbortSignal) => Promise<void>

export type RunMainOptions = {
  /** The name in the lines that this writes itself. */
  service?: string
  /** How long disposing may take before the process exits regardless. */
  disposeMs?: number
}

const startFailure = (error: unknown): { code: number; text: string } => {
  if (error instanceof ConfigError) return { code: EXIT_CONFIG, text: error.message }
  return { code: 1, text: `Cannot start: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}` }
}

/** Disposes what was started, newest first; tells whether that ended in time and without an error. */
const disposeWithin = async (stack: AsyncDisposableStack, disposeMs: number, log: Logger): Promise<boolean> => {
  const disposed = stack.disposeAsync().then(
    () => true,
    (err: unknown) => {
      log.error({ err }, 'something could not be closed')
      return false
    },
  )
  const late = delay(disposeMs, 'late' as const, { ref: false })
  const outcome = await Promise.race([disposed, late])
  if (outcome === 'late') log.error({ duration_ms: disposeMs }, 'closing took too long and was cut short')
  return outcome === true
}

/**
 * Runs a process: `main` starts everything, putting what must be closed on the stack. Then SIGTERM or SIGINT closes it
 * in reverse order, under a deadline, and the process exits: 0 when all went well, 78 for a configuration that is not
 * usable, 1 for anything else. A signal during the start gives `main` the same deadline to end. A second signal exits at
 * once; an uncaught error is logged and exits.
 */
export const runMain = async (
  main: Main,
  { service = 'main', disposeMs = 25_000 }: RunMainOptions = {},
): Promise<void> => {
  const log = createLogger({ service, level: 'info' })
  const stack = new AsyncDisposableStack()
  const controller = new AbortController()

  const onSignal = (name: NodeJS.Signals) => {
    if (controller.signal.aborted) process.exit(EXIT_INTERRUPTED)
    log.info({ signal: name }, 'stopping')
    controller.abort()
  }
  const onUncaught = (err: unknown) => {
    log.fatal({ err }, 'uncaught error')
    process.exit(1)
  }
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal)
  process.on('uncaughtException', onUncaught).on('unhandledRejection', onUncaught)
  // Nothing else may be open, and a process that waits for a signal must not end on its own.
  const alive = setInterval(() => {}, 2 ** 30)

  let code = 0
  try {
    const stopped = once(controller.signal, 'abort')
    const running = main(stack, controller.signal).then(() => stopped)
    await Promise.race([running, stopped.then(() => delay(disposeMs, undefined, { ref: false }))])
  } catch (error) {
    const failure = startFailure(error)
    process.stderr.write(`${failure.text}\n`)
    code = failure.code
  }
  const isClosed = await disposeWithin(stack, disposeMs, log)
  clearInterval(alive)
  process.exit(code || (isClosed ? 0 : 1))
}
