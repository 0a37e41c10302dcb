import { describe, expect, test, vi } from 'vitest'
import { holdTime, manualStore, options, settle, type Item } from './group-commit.fixture.ts'
import { groupCommit, Overloaded } from './group-commit.ts'

const keysOf = (statement: { items: Item[] } | undefined) => statement?.items.map(({ key }) => key)

describe('group commit', () => {
  test('a lone caller waits for no turn of the event loop to end; one that comes after a crowd does', async () => {
    const { statements, write } = manualStore()
    const commits = groupCommit(options({ write }))
    const submit = (key: string) => void commits.submit('a', { key }, 1)
    submit('1')
    await Promise.resolve()
    expect(statements.map(keysOf)).toEqual([['1']])
    submit('2')
    submit('3')
    for (const index of [0, 1]) {
      statements[index]?.finish()
      await settle()
    }
    submit('4')
    await Promise.resolve()
    expect(statements.map(keysOf)).toEqual([['1'], ['2', '3']])
    await settle()
    expect(keysOf(statements[2])).toEqual(['4'])
  })

  test('of many who wait a statement takes half, of a few all', async () => {
    const { statements, write } = manualStore()
    const commits = groupCommit(options({ write, fewItems: 3, besideShare: 2 }))
    for (let key = 1; key <= 10; key += 1) void commits.submit('a', { key: String(key) }, 1)
    await settle()
    for (const index of [0, 1, 2]) {
      statements[index]?.finish()
      await settle()
    }
    expect(statements.map(({ items }) => items.length)).toEqual([5, 3, 2])
  })

  test('what arrives in one turn of the event loop is one statement, and what arrives while every lane is busy the next', async () => {
    const { statements, write } = manualStore()
    const commits = groupCommit(options({ write }))
    const submit = (key: string) => commits.submit('a', { key }, 1)
    const first = ['1', '2'].map(submit)
    await settle()
    const second = ['3', '4'].map(submit)
    await settle()
    expect(statements.map(keysOf)).toEqual([['1', '2']])
    statements[0]?.finish()
    await settle()
    expect(keysOf(statements[1])).toEqual(['3', '4'])
    statements[1]?.finish()
    expect(await Promise.all([...first, ...second])).toEqual(['1', '2', '3', '4'].map((key) => `committed ${key}`))
  })

  test('a statement beside others is worth a lane from a third of what they write', async () => {
    const { statements, write } = manualStore()
    const commits = groupCommit(options({ write, lanes: 3, soonMs: 60_000 }))
    const submit = async (...keys: string[]) => {
      for (const key of keys) void commits.submit('a', { key }, 1)
      await settle()
    }
    await submit('1', '2', '3', '4', '5', '6')
    await submit('7')
    expect(statements).toHaveLength(1)
    await submit('8')
    expect(keysOf(statements[1])).toEqual(['7', '8'])
    await submit('9')
    statements[0]?.finish()
    await settle()
    expect(keysOf(statements[2])).toEqual(['9'])
  })

  test('where twice as much is asked for, a statement beside another waits until twice as much as that writes is there', async () => {
    const { statements, write } = manualStore()
    const commits = groupCommit(options({ write, lanes: 2, maxItems: 2, soonMs: 60_000, besideShare: 2 }))
    const submit = async (...keys: string[]) => {
      for (const key of keys) void commits.submit('a', { key }, 1)
      await settle()
    }
    await submit('1', '2', '3', '4', '5')
    expect(statements.map(keysOf)).toEqual([['1', '2']])
    await submit('6')
    expect(statements.map(keysOf)).toEqual([
      ['1', '2'],
      ['3', '4'],
    ])
  })

  test('nobody waits longer than soonMs for a statement while a lane is free', async () => {
    holdTime()
    const { statements, write } = manualStore()
    const commits = groupCommit(options({ write, lanes: 3, soonMs: 5, besideShare: 2 }))
    void commits.submit('a', { key: 'slow' }, 1)
    await settle()
    void commits.submit('a', { key: 'quick' }, 1)
    await settle()
    expect(statements.map(keysOf)).toEqual([['slow']])
    vi.advanceTimersByTime(5)
    await settle()
    expect(statements.map(keysOf)).toEqual([['slow'], ['quick']])
    void commits.submit('a', { key: 'quicker' }, 1)
    statements[1]?.finish()
    await settle()
    expect(keysOf(statements[2])).toEqual(['quicker'])
  })

  test('nobody is answered before the own statement has committed', async () => {
    const { statements, write } = manualStore()
    const commits = groupCommit(options({ write }))
    let answered = 0
    const submit = (key: string) => void commits.submit('a', { key }, 1).then(() => (answered += 1))
    submit('1')
    await settle()
    submit('2')
    await settle()
    expect(answered).toBe(0)
    statements[0]?.finish()
    await settle()
    expect(answered).toBe(1)
  })

  test('a busy account does not starve the others', async () => {
    const { statements, write } = manualStore()
    const commits = groupCommit(options({ write, maxItems: 4 }))
    for (let index = 0; index < 50; index += 1) void commits.submit('busy', { key: `busy ${index}` }, 1)
    await settle()
    void commits.submit('quiet', { key: 'quiet' }, 1)
    statements[0]?.finish()
    await settle()
    expect(keysOf(statements[1])).toContain('quiet')
  })

  test('items of one key are never in flight together and keep their order', async () => {
    const { statements, write } = manualStore()
    const commits = groupCommit(options({ write, lanes: 2 }))
    for (const key of ['same', 'same', 'same']) void commits.submit('a', { key }, 1)
    await settle()
    expect(statements.map(keysOf)).toEqual([['same']])
    statements[0]?.finish()
    await settle()
    expect(statements.map(keysOf)).toEqual([['same'], ['same']])
  })

  test('a busy key holds up nothing but itself', async () => {
    const { statements, write } = manualStore()
    const commits = groupCommit(options({ write, lanes: 2 }))
    const submit = (key: string) => void commits.submit('a', { key }, 1)
    for (const key of ['hot', 'hot', 'hot']) submit(key)
    await settle()
    submit('cold')
    await settle()
    expect(statements.map(keysOf)).toEqual([['hot'], ['cold']])
    statements[0]?.finish()
    await settle()
    expect(keysOf(statements[2])).toEqual(['hot'])
  })

  test('the queue is bounded in bytes and accepts again once it has drained', async () => {
    const { statements, write } = manualStore()
    const commits = groupCommit(options({ write, maxQueuedBytes: 10 }))
    const first = commits.submit('a', { key: '1' }, 10)
    await expect(commits.submit('a', { key: '2' }, 1)).rejects.toBeInstanceOf(Overloaded)
    await settle()
    statements[0]?.finish()
    await first
    await commits.drain()
    expect(commits.queuedBytes).toBe(0)
    void commits.submit('a', { key: '3' }, 1)
    await settle()
    expect(statements).toHaveLength(2)
  })

  test('drain waits for everything queued', async () => {
    let written = 0
    const write = async (items: Item[]) => {
      await settle()
      written += items.length
      return items.map(() => 'committed')
    }
    const commits = groupCommit(options({ write, maxItems: 3, lanes: 2 }))
    for (let index = 0; index < 100; index += 1) void commits.submit(`account ${index % 7}`, { key: `${index}` }, 1)
    await Promise.all([commits.drain(), commits.drain()])
    expect(written).toBe(100)
  })
})
