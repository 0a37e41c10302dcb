import { setTimeout as delay } from 'node:timers/promises'
import { eventually } from '@keelson/testing'
import { expect, test } from 'vitest'
import { startClients } from '@keelson/bench/spans/acknowledged'
import { crashStack } from '@keelson/bench/spans/crash'

const rssMiB = async (pid: number): Promise<number> => {
  const { readFile } = await import('node:fs/promises')
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
}

test('kill -9 of service, postmaster and backends under load loses nothing that was acknowledged', async () => {
  await using stack = await crashStack()
  const clients = startClients(stack, 8)
  for (const victim of ['service', 'backend', 'postmaster', 'service', 'backend', 'postmaster'] as const) {
    const before = clients.acknowledgedCount()
    await eventually(() => expect(clients.acknowledgedCount()).toBeGreaterThan(before + 20), { deadlineMs: 30_000 })
    await stack.kill(victim)
  }
  const before = clients.acknowledgedCount()
  await eventually(() => expect(clients.acknowledgedCount()).toBeGreaterThan(before + 20), { deadlineMs: 30_000 })
  expect((await clients.finish()).problems).toEqual([])
})

test('SIGTERM under load answers what was accepted and loses nothing', async () => {
  await using stack = await crashStack()
  const clients = startClients(stack, 16)
  await eventually(() => expect(clients.acknowledgedCount()).toBeGreaterThan(100), { deadlineMs: 30_000 })
  expect(await stack.stopService()).toMatchObject({ code: 0 })
  const { problems, spans } = await clients.finish()
  expect(problems).toEqual([])
  expect(spans).toBeGreaterThan(100)
})

test.skipIf(process.platform !== 'linux')(
  'while Postgres is frozen under full load the answer is 503, memory stays below 300 MiB, and afterwards all is well',
  async () => {
    await using stack = await crashStack()
    const clients = startClients(stack, 200)
    await eventually(() => expect(clients.acknowledgedCount()).toBeGreaterThan(500), { deadlineMs: 30_000 })
    const pids = stack.postgresPids()
    for (const pid of pids) process.kill(pid, 'SIGSTOP')
    const service = stack.servicePid()
    let peak = 0
    for (let second = 0; second < 15; second += 1) {
      await delay(1000)
      peak = Math.max(peak, await rssMiB(service))
    }
    const frozen = clients.acknowledgedCount()
    for (const pid of pids) process.kill(pid, 'SIGCONT')
    await eventually(() => expect(clients.acknowledgedCount()).toBeGreaterThan(frozen + 500), { deadlineMs: 30_000 })
    const { problems, statuses } = await clients.finish()
    expect(problems).toEqual([])
    expect(statuses['503']).toBeGreaterThan(0)
    expect(peak).toBeLessThan(300)
  },
)
