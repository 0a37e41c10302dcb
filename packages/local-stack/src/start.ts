import { resolve } from 'node:path'
import { readOptions, UsageError, type StackOptions } from './options.ts'
import { aborted, startStack } from './stack.ts'
import { welcome } from './welcome.ts'

// `npm start`. A terminal sends Ctrl-C to every process of the group and npm sends it once more: the first one counts.
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort())
process.on('disconnect', () => stop.abort())
// Nobody may be reading any more when the terminal has gone; stopping cleanly matters more than saying so.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => stop.abort())

const run = async (options: StackOptions) => {
  const died = await (async () => {
    await using running = await startStack(options, stop.signal)
    process.stdout.write(welcome(running.local, options, performance.now() / 1000))
    const line = await Promise.race([running.died, aborted(stop.signal)])
    process.stdout.write(line === undefined ? 'Stopping...\n' : `\n${line}; stopping everything\n`)
    return line
  })()
  process.stdout.write('Stopped; nothing is left running\n')
  return died === undefined ? 0 : 1
}

const explain = (error: unknown) => {
  if (stop.signal.aborted) {
    process.stdout.write('Stopped before everything was ready; nothing is left running\n')
    return 0
  }
  process.stderr.write(
    `${error instanceof UsageError ? error.message : `Keelson could not start: ${(error as Error).message}`}\n`,
  )
  return 1
}

try {
  process.exitCode = await run(
    readOptions(resolve(import.meta.dirname, '../../..'), process.argv.slice(2), process.env),
  )
} catch (error) {
  process.exitCode = explain(error)
}
if (process.connected) process.disconnect()
