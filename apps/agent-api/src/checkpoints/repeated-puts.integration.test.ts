import { afterAll, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'
import { checkpointAccount, codeOf } from './account.fixture.ts'

const app = await testApp()
afterAll(() => app[Symbol.asyncDispose]())

/** An account whose thread `t` was pruned to its latest checkpoint, `cp-5`. */
const prunedThread = async () => {
  const account = await checkpointAccount(app)
  for (let number = 1; number <= 5; number += 1) await account.step('t', number)
  await account.client.pruneCheckpoints({ body: { thread_ids: ['t'], keep_last: 1 } })
  return account
}

test('a put may be repeated after its parent was pruned', async () => {
  const { client, step, ids } = await prunedThread()
  expect(await ids('t')).toEqual(['cp-5'])
  for (const more of [{}, { expected_head_checkpoint_id: 'cp-4' }])
    expect(await codeOf(step('t', 5, { metadata: { more }, ...more }))).toBe('ok')
  const tuple = await client.getCheckpointTuple({ body: { thread_id: 't' } })
  expect(tuple).toMatchObject({
    parent_checkpoint_id: 'cp-4',
    metadata: { more: { expected_head_checkpoint_id: 'cp-4' } },
  })
})

test('a new put on a pruned parent is refused, and one on the head is not', async () => {
  const { put } = await prunedThread()
  expect(await codeOf(put('t', 'cp-6', { parent_checkpoint_id: 'cp-4' }))).toBe('thread_deleted')
  expect(await codeOf(put('t', 'cp-6', { parent_checkpoint_id: 'cp-5' }))).toBe('ok')
})
