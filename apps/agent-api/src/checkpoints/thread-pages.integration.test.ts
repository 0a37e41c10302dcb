import { afterAll, describe, expect, test } from 'vitest'
import { testApp } from '../test-app.fixture.ts'
import { checkpointAccount } from './account.fixture.ts'

const app = await testApp()
afterAll(() => app[Symbol.asyncDispose]())

type Account = Awaited<ReturnType<typeof checkpointAccount>>
type Page = Awaited<ReturnType<Account['client']['listThreads']>>

const COUNT = 30
const ids = Array.from({ length: COUNT }, (_, number) => `t-${number}`)

const accountWithThreads = async () => {
  const account = await checkpointAccount(app)
  for (const id of ids) await account.step(id, 1)
  return account
}

const positionOf = ({ threads }: Page) => {
  const { thread_id, updated_at } = threads.at(-1)!
  return { thread_id, updated_at }
}

/** The ids of all pages in order, where `between` happens after each page. */
const readPages = async ({ client }: Account, between: (page: Page, number: number) => Promise<unknown>) => {
  const met: string[] = []
  let cursor: ReturnType<typeof positionOf> | undefined
  for (let number = 0; number < 3 * COUNT; number += 1) {
    const page = await client.listThreads({ body: { limit: 5, starting_after: cursor } })
    met.push(...page.threads.map(({ thread_id }) => thread_id))
    if (!page.has_more) return met
    cursor = positionOf(page)
    await between(page, number)
  }
  throw new Error(`no end after ${met.length} threads`)
}

describe('pages after the position of a thread', () => {
  test('meet every thread once while the last of each page changes', async () => {
    const account = await accountWithThreads()
    const met = await readPages(account, (page, number) => account.step(positionOf(page).thread_id, number + 2))
    expect(met).toEqual(ids.toReversed())
  })

  test('meet every thread that stays as it is once, and one that changes at most once', async () => {
    const account = await accountWithThreads()
    const changed = new Set<string>()
    const met = await readPages(account, async (_, number) => {
      for (const id of [`t-${number}`, `t-${20 + number}`, `new-${number}`]) {
        changed.add(id)
        await account.step(id, number + 2)
      }
    })
    expect(new Set(met).size).toBe(met.length)
    const unchanged = ids.filter((id) => !changed.has(id)).toReversed()
    expect(met.filter((id) => !changed.has(id))).toEqual(unchanged)
  })

  test('go on after a thread that was deleted, or is of no account, as from any position', async () => {
    const account = await accountWithThreads()
    const met = await readPages(account, (page) =>
      account.client.deleteThread({ body: { thread_id: positionOf(page).thread_id } }),
    )
    expect(met).toEqual(ids.toReversed())
    const after = (updated_at: string) =>
      account.threads({ limit: 100, starting_after: { thread_id: 'of nobody', updated_at } })
    expect(await after('9999-12-31')).toHaveLength(COUNT - 5)
    expect(await after('0001-01-01')).toEqual([])
  })

  test('are exact where threads changed in one microsecond', async () => {
    const account = await accountWithThreads()
    await app.db.sql`
      update agent.threads set updated_at = '2026-11-21T09:30:00.123456Z'::timestamptz + (right(thread_id, 1)::integer / 4) * interval '1 microsecond'
      where account_id = ${account.client.account_id}`
    const met = await readPages(account, async () => {})
    expect(met.toSorted()).toEqual(ids.toSorted())
  })

  test.each([
    [{ thread_id: 't-1', updated_at: 'yesterday' }, 'starting_after.updated_at'],
    [{ thread_id: 't-1', updated_at: '2026-02-30T00:00:00Z' }, 'starting_after.updated_at'],
    [{ thread_id: 't-1', updated_at: null }, 'starting_after.updated_at'],
    [{ thread_id: 't-1' }, 'starting_after.updated_at'],
    [{ thread_id: '', updated_at: '2026-02-03T00:00:00Z' }, 'starting_after.thread_id'],
    [{ updated_at: '2026-02-03T00:00:00Z' }, 'starting_after.thread_id'],
    [7, 'starting_after'],
    ['', 'starting_after'],
  ])('are refused after %j', async (starting_after, path) => {
    const { client } = await checkpointAccount(app)
    const call = client.listThreads({ body: { starting_after: starting_after as never } })
    await expect(call).rejects.toMatchObject({
      problem: { status: 422, errors: [{ path: expect.stringContaining(path) }] },
    })
  })
})

test('a page after an id begins where the thread stands now, at the front once it has changed', async () => {
  const { client, step, threads } = await accountWithThreads()
  expect(await threads({ limit: 2, starting_after: 't-10' })).toEqual(['t-9', 't-8'])
  await step('t-10', 2)
  expect(await threads({ limit: 2, starting_after: 't-10' })).toEqual(['t-29', 't-28'])
  expect((await client.listThreads({ body: { limit: 1 } })).threads[0]?.thread_id).toBe('t-10')
})
