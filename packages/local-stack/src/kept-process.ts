import { spawn, type StdioOptions } from 'node:child_process'
import type { Readable } from 'node:stream'

// The shell outlives neither its child nor its starter: when our end of stdin closes, for whatever reason
// (stop, crash, kill -9), it sends the stop signal. So no death of ours leaves a process behind.
const KEEPER = `
exec 3<&0
"$@" </dev/null 3<&- &
child=$!
(read -r _ <&3; kill -s "$KEEPER_STOP_SIGNAL" "$child") >/dev/null 2>&1 &
watcher=$!
wait "$child" 2>/dev/null
code=$?
kill "$watcher" 2>/dev/null
exit "$code"
`

const SIGNAL_NAMES: Record<number, string> = {
  129: 'SIGHUP',
  130: 'SIGINT',
  134: 'SIGABRT',
  137: 'SIGKILL',
  139: 'SIGSEGV',
  143: 'SIGTERM',
}

export type Exit = { code: number; /** 'exited with code 1' or 'was killed (SIGKILL)' */ reason: string }

export type KeptProcess = {
  /** Resolves once, when the process has ended, by itself or by `stop`, and all it printed has been read. */
  exited: Promise<Exit>
  stdout: Readable | null
  stderr: Readable | null
  /** Sends the stop signal, waits, and kills the whole process group after `graceMs`. */
  stop: (graceMs?: number) => Promise<Exit>
}

const describeExit = (code: number | null, signal: NodeJS.Signals | null): Exit => {
  const name = signal ?? SIGNAL_NAMES[code ?? 1]
  return { code: code ?? 1, reason: name ? `was killed (${name})` : `exited with code ${code}` }
}

/**
 * Runs a program that ends with this process, however this process ends, and that a Ctrl-C in the terminal does not
 * reach: who is stopped when is decided here.
 *
 * @param options.stopSignal what asks the program to stop, without the SIG prefix as POSIX `kill -s` wants it
 */
export const keepProcess = (
  command: readonly string[],
  options: {
    cwd?: string
    env: Record<string, string | undefined>
    stopSignal: 'TERM' | 'INT'
    output: 'pipe' | number
  },
): KeptProcess => {
  const stdio: StdioOptions = ['pipe', options.output, options.output]
  const child = spawn('/bin/sh', ['-c', KEEPER, 'keeper', ...command], {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: { ...options.env, KEEPER_STOP_SIGNAL: options.stopSignal },
    stdio,
    detached: true,
  })
  child.stdin?.on('error', () => {})
  const exited = new Promise<Exit>((resolve) => {
    child.once('error', (error) => resolve({ code: 1, reason: `could not be started: ${error.message}` }))
    child.once('exit', () => child.stdin?.destroy())
    child.once('close', (code, signal) => resolve(describeExit(code, signal)))
  })
  const stop = async (graceMs = 15_000) => {
    child.stdin?.end()
    const timer = setTimeout(() => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
    }, graceMs)
    return exited.finally(() => clearTimeout(timer))
  }
  return { exited, stdout: child.stdout, stderr: child.stderr, stop }
}
