import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { eventually } from '@keelson/testing'
import { expect, test } from 'vitest'
import { descendants, stillRunning } from '@keelson/local-stack'
import { ready, ROOT, runStart, temporaryDirectory } from './run-start.ts'

const pidsBelow = (pid: number) => descendants(pid).map((one) => one.pid)

const COMMANDS: Record<string, string> = {
  'platform-api': 'apps/platform-api/dist/main.js',
  deployer: 'apps/deployer/dist/main.js',
  Postgres: 'bin/postgres -D',
}

const pidOf = (root: number, name: string) => {
  const runs = COMMANDS[name] ?? name
  const found = descendants(root).find(({ command }) => command.includes(runs) && !command.includes('KEEPER'))
  if (found === undefined) throw new Error(`${name} does not run`)
  return found.pid
}

/** Empty as soon as none of them runs any more. */
const leftOf = (pids: number[]) =>
  eventually(() => {
    const left = stillRunning(pids)
    if (left.length > 0) throw new Error(`still running: ${left.join(', ')}`)
    return left
  })

test('everything is ready on its own port, the demo passes, and Ctrl-C in the terminal leaves no process behind', async () => {
  await using temporary = await temporaryDirectory()
  const { directory } = temporary
  await using started = await runStart(directory)
  const local = await ready(directory, started)
  for (const url of [local.platform_url, local.agent_url, local.simulator_url])
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
  for (const file of ['local.json', 'operator.env'])
    expect((await stat(join(directory, file))).mode & 0o777).toBe(0o600)
  const keys = `set -a; . '${directory}/operator.env'; set +a; ${process.execPath} packages/identity/src/keys-command.ts list --account ${local.account_id}`
  expect((await promisify(execFile)('sh', ['-c', keys], { cwd: ROOT })).stdout).toContain('local')
  const demo = await promisify(execFile)('node', [join(ROOT, 'bootstrap.mjs'), 'demo'], {
    env: { ...process.env, KEELSON_DIRECTORY: directory },
  })
  expect(demo.stdout).toContain('The demo went as expected')
  const pids = pidsBelow(started.pid)
  expect(pids.length).toBeGreaterThan(5)
  process.kill(-started.pid, 'SIGINT')
  expect(await started.ended).toBe(0)
  expect(await leftOf(pids)).toEqual([])
})

test('a second start keeps account, key and data, and a start beside a running one is refused', async () => {
  await using temporary = await temporaryDirectory()
  const { directory } = temporary
  const span = {
    id: '0198b0a0-0000-7000-8000-000000000001',
    trace_id: 'kept',
    name: 'kept',
    start_time: '2026-01-01T00:00:00Z',
  }
  const first = await (async () => {
    await using started = await runStart(directory)
    const local = await ready(directory, started)
    const headers = { authorization: `Bearer ${local.api_key}`, 'content-type': 'application/json' }
    expect(
      (await fetch(`${local.agent_url}/spans`, { method: 'POST', headers, body: JSON.stringify(span) })).status,
    ).toBe(200)
    await using beside = await runStart(directory)
    expect(await beside.ended).toBe(1)
    expect(beside.output()).toContain(`Keelson already runs on ${directory}`)
    return local
  })()
  await using started = await runStart(directory)
  const second = await ready(directory, started)
  expect({ account_id: second.account_id, api_key: second.api_key }).toEqual({
    account_id: first.account_id,
    api_key: first.api_key,
  })
  const answer = await fetch(`${second.agent_url}/spans/${span.id}`, {
    headers: { authorization: `Bearer ${second.api_key}` },
  })
  expect(await answer.json()).toMatchObject({ id: span.id, name: 'kept' })
})

test.each(Object.keys(COMMANDS))('a killed %s is reported in one line and everything stops', async (name) => {
  await using temporary = await temporaryDirectory()
  await using started = await runStart(temporary.directory)
  await ready(temporary.directory, started)
  const pids = pidsBelow(started.pid)
  process.kill(pidOf(started.pid, name), 'SIGKILL')
  expect(await started.ended).toBe(1)
  expect(started.output()).toContain(`${name} was killed (SIGKILL); stopping everything\n`)
  expect(await leftOf(pids)).toEqual([])
})

test('when the start itself is killed with SIGKILL, nothing outlives it', async () => {
  await using temporary = await temporaryDirectory()
  await using started = await runStart(temporary.directory)
  await ready(temporary.directory, started)
  const pids = [started.pid, ...pidsBelow(started.pid)]
  process.kill(started.pid, 'SIGKILL')
  await started.ended
  expect(await leftOf(pids)).toEqual([])
})

test('a taken port is reported with its service and the flag that changes it', async () => {
  await using temporary = await temporaryDirectory()
  const server = createServer().listen(0, '127.0.0.1')
  await eventually(() => expect(server.listening).toBe(true))
  const { port } = server.address() as { port: number }
  await using started = await runStart(temporary.directory, [`--agent-api-port=${port}`])
  expect(await started.ended).toBe(1)
  expect(started.output()).toContain(`Port ${port} for agent-api is already in use`)
  expect(started.output()).toContain('--agent-api-port (AGENT_API_PORT)')
  server.close()
})
