import { afterAll, describe, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'
import { checkpointAccount, codeOf } from './account.fixture.ts'

const app = await testApp()
afterAll(() => app[Symbol.asyncDispose]())

const account = () => checkpointAccount(app)

describe('what builds on a put that was refused as late', () => {
  test('is late as well, with its writes and subgraphs, in a thread that began anew', async () => {
    const { client, put, step, write, ids } = await account()
    for (let number = 1; number <= 2; number += 1) await step('t', number)
    await write('t', 'cp-3')
    await client.deleteThread({ body: { thread_id: 't' } })
    await put('t', 'cp-4')
    const late = [
      await codeOf(step('t', 3)),
      await codeOf(put('t', 'cp-5', { parent_checkpoint_id: 'cp-3' })),
      await codeOf(put('t', 'cp-6', { parent_checkpoint_id: 'cp-5' })),
      await codeOf(put('t', 'cp-7', { checkpoint_ns: 'sub', metadata: { parents: { '': 'cp-6' } } })),
      await codeOf(write('t', 'cp-6')),
    ]
    expect(late).toEqual(Array(5).fill('thread_deleted'))
    expect(await ids('t')).toEqual(['cp-4'])
    const [left] = await app.db.sql<[{ count: number }]>`
      select count(*)::integer as count from agent.checkpoint_writes where account_id = ${client.account_id}`
    expect(left.count).toBe(0)
    expect(await codeOf(put('t', 'cp-8', { parent_checkpoint_id: 'cp-4' }))).toBe('ok')
  })

  test('is late as well after a deletion by run, and the other run goes on', async () => {
    const { client, step, put, ids } = await account()
    await step('t', 1, { metadata: { run_id: 'a' } })
    await step('t', 2, { metadata: { run_id: 'b' } })
    await client.deleteCheckpointsByRun({ body: { run_ids: ['b'] } })
    const run = { metadata: { run_id: 'b' } }
    expect([await codeOf(step('t', 3, run)), await codeOf(step('t', 4, run))]).toEqual(Array(2).fill('thread_deleted'))
    expect(await codeOf(put('t', 'cp-5', { parent_checkpoint_id: 'cp-1' }))).toBe('ok')
    expect(await ids('t')).toEqual(['cp-5', 'cp-1'])
  })

  test('is late when all come at once, in whatever order', async () => {
    const { client, step, put, ids } = await account()
    await step('t', 1)
    await client.deleteThread({ body: { thread_id: 't' } })
    await put('t', 'cp-9')
    const outcomes = await Promise.all([2, 3, 4, 5].map((number) => codeOf(step('t', number))))
    expect(outcomes).toEqual(Array(4).fill('thread_deleted'))
    expect(await ids('t')).toEqual(['cp-9'])
  })
})
