// What `npm start`, `npm test` and `npm run demo` run on whatever Node the machine has: it installs what is missing,
// the right Node included, and hands over to it.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(fileURLToPath(import.meta.url))
const pnpm = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).packageManager
const node = join(root, 'node_modules', '.bin', 'node')
const programs = {
  start: 'packages/local-stack/src/start.ts',
  demo: 'packages/local-stack/src/demo.ts',
  test: 'packages/testing/src/test-command.ts',
}

/**
 * Runs to the end with this terminal; resolves with the exit code. Signals go on to the child, which decides. So does the
 * death of whoever started this, a killed npm above all.
 */
const run = (command, args, env, stdio) =>
  new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, env, stdio })
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
    const parent = process.ppid
    const watch = setInterval(() => process.ppid === parent || child.kill('SIGTERM'), 500)
    child.once('error', (error) => {
      process.stderr.write(`${command} could not be started: ${error.message}\n`)
      clearInterval(watch)
      resolve(127)
    })
    child.once('exit', (code, signal) => {
      clearInterval(watch)
      resolve(code ?? 128 + (constants.signals[signal] ?? 0))
    })
  })

// pnpm leaves a copy of the lockfile it installed, as its last act.
const isInstalled = () => {
  const installed = join(root, 'node_modules', '.pnpm', 'lock.yaml')
  return (
    existsSync(node) &&
    existsSync(installed) &&
    readFileSync(installed).equals(readFileSync(join(root, 'pnpm-lock.yaml')))
  )
}

const install = async () => {
  process.stdout.write('Installing what is missing (once, a minute or two on a slow line)...\n')
  // Its warnings are about this Node, which is only there to fetch the right one.
  const code = await run(
    'npx',
    ['-y', pnpm, 'install', '--frozen-lockfile', '--loglevel=error'],
    { ...process.env, CI: 'true' },
    ['ignore', 'inherit', 'inherit'],
  )
  if (code !== 0) process.stderr.write(`The installation failed (exit code ${code}); what it said is above\n`)
  return code
}

// turbo calls `pnpm run build`. A machine with npm alone has no pnpm, and npm runs a script as well, offline and behind
// any proxy.
const pnpmOnPath = () => {
  const folder = join(root, 'node_modules', '.keelson')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'pnpm'), `#!/bin/sh\n[ "$1" = run ] && exec npm "$@"\nexec npx -y ${pnpm} "$@"\n`, {
    mode: 0o755,
  })
  return folder
}

const main = async ([name, ...args]) => {
  const program = programs[name]
  if (program === undefined) {
    process.stderr.write('usage: node bootstrap.mjs start|test|demo\n')
    return 64
  }
  const installed = isInstalled() ? 0 : await install()
  if (installed !== 0) return installed
  const path = [join(root, 'node_modules', '.bin'), pnpmOnPath(), process.env.PATH].join(delimiter)
  const compiled = { NODE_COMPILE_CACHE: join(root, 'node_modules', '.keelson', 'compiled') }
  const env = {
    ...process.env,
    PATH: path,
    TURBO_TELEMETRY_DISABLED: '1',
    DO_NOT_TRACK: '1',
    ...(name === 'test' ? {} : compiled),
  }
  // The channel closes when this process dies, so `start` notices even a kill -9 of its starter.
  return run(
    node,
    [join(root, program), ...args],
    env,
    name === 'start' ? ['inherit', 'inherit', 'inherit', 'ipc'] : 'inherit',
  )
}

process.exitCode = await main(process.argv.slice(2))
