import { matrix, nameOf, type FaultCase } from '@keelson/bench/models/fault-case'
import { faultPlayer, type FaultPlayer } from '@keelson/bench/models/fault-player'
import { faultStack } from '@keelson/bench/models/fault-stack'
import { PROCESSES } from '@keelson/bench/models/wiring'
import { testRedis } from '@keelson/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

// Some of `node bench/models-faults.ts`, which plays every step.

const stack = new AsyncDisposableStack()
let player: FaultPlayer

const isChosen = ({ operation, step, when, struck }: FaultCase): boolean => {
  const written = /creates the endpoint|removes the endpoint/.test(step.name)
  if (struck === 'deployer') return written || (operation === 'update' && step.name === 'records the end')
  if (struck === 'platform-api') return operation === 'update' && step.name === 'accepts: commit'
  if (struck === 'postgres') return operation === 'create' && step.name === 'records progress' && when === 'after'
  if (struck === 'redis') return step.name === 'platform-api rings' && when === 'after'
  return written && when === 'after'
}

const chosen = matrix('llmengine', ['deployer', 'platform-api', 'redis', 'postgres', 'connection']).filter(isChosen)

describe.skipIf(testRedis() === null)('a model ends where it should when there dies', () => {
  beforeAll(async () => void (player = faultPlayer(stack.use(await faultStack({ queue: 'redis' })))))
  afterAll(() => stack.disposeAsync())

  test.each(chosen.map((fault) => [nameOf(fault), fault] as const))('%s', async (_name, fault) => {
    expect((await player.play(fault)).wrong).toEqual([])
  })

  test('nobody, and nothing was written late', async () => {
    expect(await player.touched()).toEqual([])
  })
})

const DISTURBANCES = new Set([
  'create llmengine: frozen before "creates the endpoint"',
  'update llmengine: stalled before "updates the endpoint"',
  'delete llmengine: frozen before "removes the endpoint"',
  'create llmengine: duplicate before "claims"',
  'create llmengine: deadline before "records the end"',
  'delete llmengine: deadline after "removes the endpoint"',
])
const disturbed = matrix('llmengine', ['frozen', 'stalled', 'duplicate', 'deadline']).filter((fault) =>
  DISTURBANCES.has(nameOf(fault)),
)

describe('a model ends where it should, with two workers, when there is', () => {
  const pair = new AsyncDisposableStack()
  let played: FaultPlayer

  beforeAll(async () => {
    played = faultPlayer(pair.use(await faultStack({ queue: 'postgres', processes: PROCESSES })))
  })
  afterAll(() => pair.disposeAsync())

  test.each(disturbed.map((fault) => [nameOf(fault), fault] as const))('%s', async (_name, fault) => {
    expect((await played.play(fault)).wrong).toEqual([])
  })

  test('nobody who writes late', async () => {
    expect(disturbed).toHaveLength(DISTURBANCES.size)
    expect(await played.touched()).toEqual([])
  })
})
