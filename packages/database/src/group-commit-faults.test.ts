import { describe, expect, test, vi } from 'vitest'
import { holdTime, manualStore, options, settle, type Item } from './group-commit.fixture.ts'
import { groupCommit, Overloaded } from './group-commit.ts'

describe('in a group commit', () => {
  test('a statement that takes too long answers its callers and, once every lane does, refuses everyone until one is back', async () => {
    holdTime()
    const { statements, write } = manualStore()
    const commits = groupCommit(options({ write, stallMs: 5 }))
    const stuck: Promise<string>[] = []
    for (const key of ['1', '2', '1']) {
      stuck.push(commits.submit('a', { key }, 10))
      await settle()
    }
    const outcomes = Promise.allSettled(stuck)
    vi.advanceTimersByTime(5)
    expect((await outcomes).map((outcome) => outcome.status === 'rejected' && outcome.reason.name)).toEqual(
      stuck.map(() => 'Overloaded'),
    )
    expect(commits.queuedBytes).toBe(10)
    await expect(commits.submit('a', { key: '3' }, 1)).rejects.toBeInstanceOf(Overloaded)
    statements[0]?.finish()
    await commits.drain()
    const again = commits.submit('a', { key: '1' }, 1)
    await settle()
    statements.at(-1)?.finish()
    expect(await again).toBe('committed 1')
  })

  test('a statement that takes too long beside free lanes refuses those who wait for its rows, and nobody else', async () => {
    holdTime()
    const { statements, write } = manualStore()
    const commits = groupCommit(options({ write, lanes: 2, soonMs: 1, stallMs: 5 }))
    const submit = (key: string) => commits.submit('a', { key }, 10)
    const stuck = [submit('1')]
    await settle()
    stuck.push(submit('1'))
    const refused = Promise.allSettled(stuck)
    vi.advanceTimersByTime(1)
    const others = ['2', '3'].map(submit)
    await settle()
    others.push(submit('2'))
    vi.advanceTimersByTime(4)
    expect((await refused).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await expect(submit('1')).rejects.toBeInstanceOf(Overloaded)
    for (const index of [1, 2]) {
      statements[index]?.finish()
      await settle()
    }
    expect(await Promise.all(others)).toEqual(['2', '3', '2'].map((key) => `committed ${key}`))
    expect(commits.queuedBytes).toBe(10)
  })

  test('a poisonous item fails alone', async () => {
    const write = async (items: Item[]) => {
      if (items.some(({ poison }) => poison)) throw new Error('bad row')
      return items.map(({ key }) => `committed ${key}`)
    }
    const commits = groupCommit(options({ write }))
    const items = Array.from({ length: 20 }, (_, index) => ({ key: `${index}`, poison: index === 7 }))
    const outcomes = await Promise.allSettled(items.map((item) => commits.submit('a', item, 1)))
    expect(outcomes.map(({ status }) => status)).toEqual(items.map(({ poison }) => (poison ? 'rejected' : 'fulfilled')))
  })

  test('rows that others hold fail alone, and their neighbours are tried again without waiting for them', async () => {
    const patience: (number | undefined)[] = []
    const write = async (items: Item[], lockTimeoutMs?: number) => {
      patience.push(lockTimeoutMs)
      if (items.some(({ poison }) => poison)) throw new Error('locked')
      return items.map(({ key }) => `committed ${key}`)
    }
    const commits = groupCommit(options({ write, isTransient: () => true, isBlocked: () => true }))
    const items = Array.from({ length: 20 }, (_, index) => ({ key: `${index}`, poison: index % 9 === 7 }))
    const outcomes = await Promise.allSettled(items.map((item) => commits.submit('a', item, 1)))
    expect(outcomes.map(({ status }) => status)).toEqual(items.map(({ poison }) => (poison ? 'rejected' : 'fulfilled')))
    const [first, ...others] = patience
    expect(first).toBeUndefined()
    expect(others.every((lockTimeoutMs) => lockTimeoutMs !== undefined && lockTimeoutMs < 100)).toBe(true)
  })

  test('a statement whose callers are all answered is not tried again in parts', async () => {
    holdTime()
    const { statements, write } = manualStore()
    const commits = groupCommit(options({ write, isBlocked: () => true, stallMs: 5 }))
    const outcomes = Promise.allSettled(['1', '2'].map((key) => commits.submit('a', { key }, 1)))
    await settle()
    vi.advanceTimersByTime(5)
    statements[0]?.fail(new Error('locked'))
    await outcomes
    await commits.drain()
    expect(statements).toHaveLength(1)
  })

  test('a transient fault rejects the whole batch without trying items one by one', async () => {
    let writes = 0
    const write = async () => {
      writes += 1
      throw new Error('connection lost')
    }
    const commits = groupCommit(options({ write, isTransient: () => true }))
    const outcomes = await Promise.allSettled(['1', '2', '3'].map((key) => commits.submit('a', { key }, 1)))
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true)
    expect(writes).toBe(1)
  })
})
