import { startClients } from '@keelson/bench/spans/acknowledged'
import { crashStack } from '@keelson/bench/spans/crash'
import { freezePostgres, sendLargeBatch, watchMemory } from '@keelson/bench/spans/frozen-postgres'
import { eventually } from '@keelson/testing'
import { describe, expect, test } from 'vitest'

type Clients = ReturnType<typeof startClients>

const acknowledgesMore = async (clients: Clients, more: number): Promise<void> => {
  const before = clients.acknowledgedCount()
  await eventually(() => expect(clients.acknowledgedCount()).toBeGreaterThan(before + more), { deadlineMs: 30_000 })
}

describe.concurrent('under load', () => {
  test('kill -9 of service, postmaster and backends loses nothing that was acknowledged, and neither does SIGTERM', async () => {
    await using stack = await crashStack()
    const clients = startClients(stack, 8)
    for (const victim of ['service', 'backend', 'postmaster', 'service', 'backend', 'postmaster'] as const) {
      await acknowledgesMore(clients, 20)
      await stack.kill(victim)
    }
    await acknowledgesMore(clients, 20)
    expect(await stack.stopService()).toMatchObject({ code: 0 })
    expect((await clients.finish()).problems).toEqual([])
  })

  test.skipIf(process.platform !== 'linux')(
    'while Postgres is frozen the answer is 503 and memory stays bounded, whatever bodies weigh; afterwards all is well',
    async () => {
      await using stack = await crashStack()
      const clients = startClients(stack, 200)
      await acknowledgesMore(clients, 500)
      using memory = watchMemory(stack.servicePid())
      const frozen = freezePostgres(stack)
      await eventually(() => expect(clients.statuses()['503'] ?? 0).toBeGreaterThan(0), { deadlineMs: 60_000 })
      expect(memory.peakMiB()).toBeLessThan(300)
      const large = Array.from({ length: 64 }, (_, index) => sendLargeBatch(stack, `large-${index}`))
      // What is refused while it is sent becomes garbage, of which a busy machine collects less in time.
      expect(await Promise.any(large)).toBe(503)
      frozen[Symbol.dispose]()
      const answers = new Set(await Promise.all(large))
      await acknowledgesMore(clients, 500)
      expect(memory.peakMiB()).toBeLessThan(450)
      expect([...answers].filter((status) => status !== 200 && status !== 503)).toEqual([])
      expect((await clients.finish()).problems).toEqual([])
    },
  )
})
