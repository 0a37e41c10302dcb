import { eventually, testDatabase } from '@keelson/testing'
import { afterAll, expect, test } from 'vitest'
import { connect } from './connect.ts'
import { subscribe } from './subscribe.ts'

const database = await testDatabase()
const { db } = database
afterAll(() => database[Symbol.asyncDispose]())

const listening = async (applicationName: string) => {
  const own = connect({ url: database.url, applicationName })
  const events: string[] = []
  const subscription = subscribe(own, {
    channel: 'news',
    onNotification: (payload) => void events.push(payload),
    onReady: () => void events.push('ready'),
    onLost: () => void events.push('lost'),
    silenceMs: 200,
  })
  await eventually(() => expect(events).toEqual(['ready']))
  return {
    events,
    cut: () =>
      db.sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = ${applicationName}`,
    async [Symbol.asyncDispose]() {
      await subscription[Symbol.asyncDispose]()
      await own[Symbol.asyncDispose]()
    },
  }
}

test('what is announced arrives, in order, once its transaction has committed', async () => {
  await using subscriber = await listening('orderly')
  await db.sql.begin(async (tx) => {
    await tx`select pg_notify('news', 'one')`
    await tx`select pg_notify('news', 'two')`
    expect(subscriber.events).toEqual(['ready'])
  })
  await eventually(() => expect(subscriber.events).toEqual(['ready', 'one', 'two']))
})

test('a cut connection is reported at once and replaced', async () => {
  await using subscriber = await listening('cut')
  for (let round = 1; round <= 3; round += 1) {
    await subscriber.cut()
    await eventually(() => expect(subscriber.events).toHaveLength(1 + 2 * round))
  }
  expect(subscriber.events).toEqual(['ready', 'lost', 'ready', 'lost', 'ready', 'lost', 'ready'])
  await db.sql`select pg_notify('news', 'after')`
  await eventually(() => expect(subscriber.events.at(-1)).toBe('after'))
})

test('disposing ends the connection, quietly and soon, whether it is up or nobody answers', async () => {
  const subscriber = await listening('disposed')
  await subscriber[Symbol.asyncDispose]()
  expect(subscriber.events).toEqual(['ready'])
  await eventually(async () =>
    expect(await db.sql`select 1 from pg_stat_activity where application_name = 'disposed'`).toHaveLength(0),
  )
  await using nowhere = connect({ url: 'postgres://nobody@127.0.0.1:1/none', applicationName: 'nowhere' })
  const started = performance.now()
  const silent = subscribe(nowhere, { channel: 'news', onNotification: () => {}, onReady: () => {}, onLost: () => {} })
  await silent[Symbol.asyncDispose]()
  expect(performance.now() - started).toBeLessThan(1_000)
})
