import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { freePort, type LocalJson } from '@keelson/local-stack'
import { eventually } from '@keelson/testing'

export const ROOT = resolve(import.meta.dirname, '../..')
const SERVICES = ['vendor-simulator', 'platform-api', 'agent-api', 'webhook-worker', 'deployer']

export type Started = {
  /** The process that stands for `npm start`. */
  pid: number
  /** Everything it has printed so far. */
  output: () => string
  ended: Promise<number | null>
}

const portFlags = () => Promise.all(SERVICES.map(async (name) => `--${name}-port=${await freePort()}`))

/** A temporary `.keelson` directory, with a space in its path. */
export const temporaryDirectory = async () => {
  const directory = await mkdtemp(join(tmpdir(), 'keelson start '))
  return { directory, [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }) }
}

/** Runs `npm start` on free ports, in a process group of its own as a terminal would. */
export const runStart = async (directory: string, args?: string[]): Promise<Started & AsyncDisposable> => {
  const flags = args ?? (await portFlags())
  const child = spawn('node', [join(ROOT, 'bootstrap.mjs'), 'start', '--directory', directory, ...flags], {
    env: { ...process.env, DATABASE_URL: '', REDIS_URL: '', CI: 'true' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const pid = child.pid ?? 0
  return {
    pid,
    output: () => said,
    ended,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null) process.kill(-pid, 'SIGTERM')
      await ended
    },
  }
}

/** Waits for the block that says that everything is ready, and reads what clients read. */
export const ready = async (directory: string, { output, ended }: Started): Promise<LocalJson> => {
  let over = false
  void ended.then(() => (over = true))
  await eventually(
    () => {
      if (!over && !output().includes('Keelson is ready')) throw new Error(`not ready:\n${output()}`)
    },
    { deadlineMs: 90_000 },
  )
  if (over) throw new Error(`it ended before it was ready:\n${output()}`)
  return JSON.parse(await readFile(join(directory, 'local.json'), 'utf8'))
}
