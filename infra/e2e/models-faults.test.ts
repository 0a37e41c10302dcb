import { matrix, nameOf, type FaultCase } from '@keelson/bench/models/fault-case'
import { faultPlayer, type FaultPlayer } from '@keelson/bench/models/fault-player'
import { faultStack } from '@keelson/bench/models/fault-stack'
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
