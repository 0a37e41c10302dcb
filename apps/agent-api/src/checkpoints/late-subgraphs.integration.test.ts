import { afterAll, describe, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'
import { checkpointAccount, codeOf } from './account.fixture.ts'

const app = await testApp()
afterAll(() => app[Symbol.asyncDispose]())

/** An account whose thread `t` had two checkpoints, and was deleted. */
const deletedThread = async () => {
  const account = await checkpointAccount(app)
  await account.step('t', 1)
  await account.step('t', 2)
  await account.client.deleteThread({ body: { thread_id: 't' } })
  const { put } = account
  /** The first checkpoint of a subgraph: it has no parent, and says which checkpoint of the root graph it came from. */
  const enter = (id: string, root: unknown, more: object = {}) =>
    codeOf(put('t', id, { checkpoint_ns: 'sub:1', metadata: { parents: { '': root } }, ...more }))
  return { ...account, enter }
}

describe('a run that enters a subgraph after its thread was deleted', () => {
  test('does not bring the thread back, however deep it goes, and leaves no writes', async () => {
    const { client, enter, put, threads } = await deletedThread()
    const writes = [{ task_id: 't', idx: 0, channel: 'c', blob: '' }]
    await client.putCheckpointWrites({
      body: { thread_id: 't', checkpoint_ns: 'sub:1', checkpoint_id: 'cp-3', writes },
    })
    const nested = { checkpoint_ns: 'sub:1|more:2', metadata: { parents: { '': 'cp-2', 'sub:1': 'cp-3' } } }
    const outcomes = [
      await enter('cp-3', 'cp-2'),
      await enter('cp-4', 'cp-1', { expected_head_checkpoint_id: '' }),
      await codeOf(put('t', 'cp-5', nested)),
    ]
    expect(outcomes).toEqual(Array(3).fill('thread_deleted'))
    expect(await threads()).toEqual([])
    const left = await app.db.sql`select from agent.checkpoint_writes where account_id = ${client.account_id}`
    expect(left).toHaveLength(0)
  })

  test('is late as well when the checkpoint it came from was refused', async () => {
    const { enter, put, threads } = await deletedThread()
    expect(await codeOf(put('t', 'cp-3', { parent_checkpoint_id: 'cp-2' }))).toBe('thread_deleted')
    expect(await enter('cp-4', 'cp-3')).toBe('thread_deleted')
    expect(await threads()).toEqual([])
  })

  test('comes after the put of the checkpoint it came from, though both are sent at once', async () => {
    for (let round = 0; round < 15; round += 1) {
      const { enter, put, threads } = await deletedThread()
      const outcomes = await Promise.all([
        codeOf(put('t', 'cp-3', { parent_checkpoint_id: 'cp-2' })),
        enter('cp-4', 'cp-3'),
      ])
      expect([...outcomes, await threads()]).toEqual(['thread_deleted', 'thread_deleted', []])
    }
  })
})

describe('a new run on a deleted thread', () => {
  test('may enter a subgraph before its first checkpoint has arrived', async () => {
    const { enter, put, ids } = await deletedThread()
    expect(await enter('cp-8', 'cp-7')).toBe('ok')
    expect(await codeOf(put('t', 'cp-7'))).toBe('ok')
    expect(await ids('t')).toEqual(['cp-8', 'cp-7'])
  })

  test('may enter a subgraph from a checkpoint that has an id of the deleted life', async () => {
    const { enter, put } = await deletedThread()
    await put('t', 'cp-1')
    expect([await enter('cp-8', 'cp-1'), await enter('cp-9', 'cp-2')]).toEqual(['ok', 'thread_deleted'])
  })

  test.each([[5], [null], [''], ['\0'], ['\ud800'], [['cp-1']], ['x'.repeat(300)]])(
    'is begun by a checkpoint without parent whose metadata name %j, which is no checkpoint',
    async (root) => {
      const { enter, put } = await deletedThread()
      expect(await enter('cp-8', root)).toBe('ok')
      expect(await codeOf(put('t', 'cp-9', { metadata: { parents: root } }))).toBe('ok')
    },
  )
})
