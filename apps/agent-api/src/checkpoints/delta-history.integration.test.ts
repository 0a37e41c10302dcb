import { afterAll, describe, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'
import { checkpointAccount } from './account.fixture.ts'

const app = await testApp()
afterAll(() => app[Symbol.asyncDispose]())
const { client, put, write } = await checkpointAccount(app)

const idOf = (number: number) => String(number).padStart(6, '0')

/** A thread of checkpoints that each have a write and no value, each the parent of the next. */
const seedChain = async (thread_id: string, length: number) => {
  const { sql } = app.db
  const { account_id } = client
  await sql`insert into agent.threads (account_id, thread_id) values (${account_id}, ${thread_id})`
  await sql`
    insert into agent.checkpoints (account_id, thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata, metadata_filter, channels, versions)
    select ${account_id}, ${thread_id}, '', lpad(n::text, 6, '0'), lpad((n - 1)::text, 6, '0'), '{}', '{}', '{}', '{}', '{}'
    from generate_series(0, ${length}::integer) as n`
  await sql`
    insert into agent.checkpoint_writes (account_id, thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob, task_path)
    select ${account_id}, ${thread_id}, '', lpad(n::text, 6, '0'), 't', 0, 'c', 'json', 'x', ''
    from generate_series(0, ${length}::integer) as n`
}

/** The checkpoints whose writes the history of a checkpoint holds. */
const historyOf = async (thread_id: string, checkpoint_id?: string) => {
  const { channels } = await client.getDeltaHistory({ body: { thread_id, checkpoint_id, channels: ['c'] } })
  return channels[0]!.writes.map((found) => found.checkpoint_id)
}

describe('delta history', () => {
  test('of 20,000 ancestors comes back whole and in order, before a statement may take no longer', async () => {
    const length = 20_000
    await seedChain('long', length)
    expect(await historyOf('long')).toEqual(Array.from({ length }, (_, number) => idOf(number)))
  })

  test.each([1, 2, 3, 7])('ends on a circle of %i parents, from within and from a tail of any length', async (size) => {
    const thread_id = `circle-${size}`
    const circle = Array.from({ length: size }, (_, number) => `on-${number}`)
    const tail = Array.from({ length: 6 }, (_, number) => `tail-${number}`)
    for (const [number, id] of circle.entries())
      await put(thread_id, id, { parent_checkpoint_id: circle.at(number - 1)! })
    for (const [number, id] of tail.entries())
      await put(thread_id, id, { parent_checkpoint_id: number === 0 ? circle[0]! : tail[number - 1]! })
    for (const id of [...circle, ...tail]) await write(thread_id, id)
    const fromWithin = await Promise.all(circle.map((id) => historyOf(thread_id, id)))
    const others = circle.map((id, number) => [...circle.slice(number + 1), ...circle.slice(0, number)])
    expect(fromWithin).toEqual(others)
    const fromTail = await Promise.all(tail.map((id) => historyOf(thread_id, id)))
    const around = [...circle.slice(1), circle[0]!]
    expect(fromTail).toEqual(tail.map((_, number) => [...around, ...tail.slice(0, number)]))
  })
})
