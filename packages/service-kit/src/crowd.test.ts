import { expect, test } from 'vitest'
import { LIMITS, MOST, SERVICE_MS, simulation } from './crowd.fixture.ts'
import { crowd } from './crowd.ts'

test('below what can be done nobody is refused', async () => {
  const { run } = simulation()
  expect((await run(0.8, 5000)).refused).toBe(0)
})

test('a lone burst is taken whole, however long the line it makes', async () => {
  const { arrive, run } = simulation()
  await run(0.5, 1000)
  expect(Array.from({ length: MOST }, () => arrive())).toEqual(Array.from({ length: MOST }, () => true))
})

test('a burst is taken whole after another one and whatever pause between them', async () => {
  for (const pauseMs of [30, 100, 300, 1000, 5000]) {
    const { run } = simulation()
    await run(0.5, 1000)
    for (let burst = 0; burst < 10; burst += 1) {
      expect([pauseMs, burst, (await run(8, 30)).refused]).toEqual([pauseMs, burst, 0])
      await run(0, 240 * SERVICE_MS + pauseMs)
    }
  }
})

test('under twice what can be done as much is done as before, and nobody who is let in waits long', async () => {
  const { run } = simulation()
  await run(0.5, 1000)
  const { refused, done, slowestMs } = await run(2, 20_000)
  expect(refused).toBeGreaterThan(15_000)
  expect(done).toBeGreaterThan(19_000)
  expect(slowestMs).toBeLessThan(20)
})

test('an account that asks for little is hardly refused and waits hardly longer while another asks for three times what can be done', async () => {
  const { arrive, run } = simulation()
  await run(0.5, 1000)
  const waits: number[] = []
  let refused = 0
  for (let round = 0; round < 1000; round += 1) {
    refused += arrive('quiet', waits) ? 0 : 1
    await run(3, 10)
  }
  expect(refused).toBeLessThan(3)
  expect(waits.length).toBeGreaterThan(990)
  expect(waits.toSorted((one, other) => one - other)[Math.floor(waits.length * 0.99)]).toBeLessThan(12)
})

test('whoever comes before it is known what is usual is refused all the same', async () => {
  const { run } = simulation()
  const { done, slowestMs } = await run(2, 20_000)
  expect(done).toBeGreaterThan(19_000)
  expect(slowestMs).toBeLessThan(20)
})

test('callers who come again only when they have been answered are no crowd, although each waits for all others', async () => {
  const { arrive, run } = simulation()
  await run(0.5, 1000)
  for (let caller = 0; caller < 200; caller += 1) arrive()
  // As one is done another comes.
  expect((await run(1, 5000)).refused).toBe(0)
})

test('so many as may always be worked on are never refused, however long they keep each other waiting', async () => {
  const { arrive, run } = simulation()
  await run(0.5, 1000)
  const taken = Array.from({ length: LIMITS.least - 1 }, () => arrive())
  // As one is done another comes.
  const { refused } = await run(1, 5000)
  expect([taken.every(Boolean), refused]).toEqual([true, 0])
})

test('so many as may always be worked on are no crowd, however long they wait for what all of them need', async () => {
  const { arrive, run, pause } = simulation()
  await run(0.5, 1000)
  for (let wait = 0; wait < 20; wait += 1) {
    expect(Array.from({ length: LIMITS.least - 1 }, () => arrive())).not.toContain(false)
    await pause(1000)
  }
})

test('those who come all at once, and then nobody for twice as long as they take, are soon let in again', async () => {
  const { arrive, run } = simulation()
  await run(0.5, 1000)
  await run(4, 5000)
  let refused = 0
  for (let wave = 0; wave < 100; wave += 1) {
    refused = Array.from({ length: 20 }, () => arrive()).filter((isIn) => !isIn).length
    await run(0, 60)
  }
  expect(refused).toBe(0)
})

test('what is learned while some are refused is not what is usual', async () => {
  const { limiter, run } = simulation()
  await run(0.5, 1000)
  await run(3, 60_000)
  expect((await run(3, 5000)).slowestMs).toBeLessThan(20)
  await run(0.5, 600)
  expect(limiter.limit()).toBe(MOST)
})

test('however long a crowd comes in waves, whoever is let in does not wait longer', async () => {
  const { arrive, run } = simulation()
  await run(0.5, 1000)
  await run(3, 1000)
  let last = { slowestMs: 0 }
  for (let wave = 0; wave < 2000; wave += 1) {
    for (let arrival = 0; arrival < 30; arrival += 1) arrive()
    last = await run(0, 10)
  }
  expect(last.slowestMs).toBeLessThanOrEqual(10)
})

test('after the second that the refused were told to wait everybody is let in', async () => {
  const { arrive, run } = simulation()
  await run(0.5, 1000)
  await run(4, 5000)
  await run(0, 1100)
  expect(Array.from({ length: MOST }, () => arrive())).toEqual(Array.from({ length: MOST }, () => true))
})

test('once the crowd has gone nobody is refused any more', async () => {
  const { limiter, run } = simulation()
  await run(0.5, 1000)
  await run(4, 5000)
  expect(limiter.limit()).toBeLessThan(MOST / 4)
  await run(0.5, 600)
  expect(limiter.limit()).toBe(MOST)
  expect((await run(0.9, 2000)).refused).toBe(0)
})

test('work that was slow all along is no crowd, and does not wait for a turn', async () => {
  let now = 0
  const limiter = crowd(LIMITS, () => {}, { now: () => now, turn: (done) => done() })
  const begun: { at: number; finish: () => void }[] = []
  const work = () => new Promise<void>((finish) => begun.push({ at: now, finish }))
  const finish = async (): Promise<void> => {
    while (begun[0] && now - begun[0].at >= 200) begun.shift()?.finish()
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve()
  }
  const slow = limiter.during('slow', 'a', work)
  now += 200
  await finish()
  await slow
  for (let ms = 0; ms < 5000; ms += 1, now += 1) {
    expect(limiter.admits()).toBe(true)
    void limiter.during('slow', 'a', work)
    await finish()
  }
  expect(begun.length).toBe(200)
})

test('what is slow by nature holds up nothing else', async () => {
  let now = 0
  const limiter = crowd(LIMITS, () => {}, { now: () => now, turn: (done) => done() })
  const ends: (() => void)[] = []
  const slow = () => limiter.during('slow', 'a', () => new Promise<void>((end) => ends.push(end)))
  const first = slow()
  now += 100
  ends.pop()?.()
  await first
  for (let one = 0; one < 200; one += 1) void slow()
  expect(ends.length).toBe(200)
  await expect(limiter.during('quick', 'a', async () => 'done')).resolves.toBe('done')
})

test('a line before the event loop counts like one behind it', async () => {
  let now = 0
  const turnEnds: (() => void)[] = []
  const limiter = crowd(LIMITS, () => {}, { now: () => now, turn: (done) => void turnEnds.push(done) })
  await limiter.during('work', 'a', async () => {})
  let refused = 0
  // Everybody is answered at once, but so many come in each turn that the last have waited for the first.
  for (let turn = 0; turn < 20; turn += 1) {
    const works: Promise<void>[] = []
    for (let arrival = 0; arrival < 800; arrival += 1, now += 0.25) {
      if (limiter.admits()) works.push(limiter.during('work', 'a', async () => {}))
      else refused += 1
    }
    await Promise.all(works)
    for (const done of turnEnds.splice(0)) done()
  }
  expect(refused).toBeGreaterThan(1000)
})

test('a crowd is seen while turns of the event loop have windows without answers, and whoever only waits is refused', async () => {
  let now = 0
  let cut = 0
  const limiter = crowd(LIMITS, () => (cut += 1), { now: () => now, turn: () => {} })
  const begun: (() => void)[] = []
  const outcomes: Promise<unknown>[] = []
  const answer = async (count: number) => {
    for (const resolve of begun.splice(0, count)) resolve()
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve()
  }
  let refusals = 0
  const work = () => new Promise<void>((resolve) => begun.push(resolve))
  for (; limiter.admits() && outcomes.length < MOST;) {
    outcomes.push(limiter.during('work', 'a', work).catch(() => (refusals += 1)))
    now += 0.5
    // As many as in a turn of 100 ms can be, at its end.
    if (now < 20) await answer(1)
    else if (now % 100 === 0) await answer(100)
  }
  expect(outcomes.length).toBeLessThan(250)
  expect(begun.length).toBeLessThanOrEqual(32)
  await answer(begun.length)
  await Promise.all(outcomes)
  expect(refusals).toBe(cut)
  expect(cut).toBeGreaterThan(0)
})
