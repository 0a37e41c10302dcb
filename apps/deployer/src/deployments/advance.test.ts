import { describe, expect, test } from 'vitest'
import { accepted, claim, endpoint, LIMITS } from '../fixtures/claims.fixture.ts'
import { startStep } from '../vendors/step.ts'
import type { Endpoint, Vendor } from '../vendors/vendor.ts'
import { advance, type Ports } from './advance.ts'
import type { Change, Claim } from './deployment.ts'

/** Ports that give this claim and show this endpoint, and what was asked of them. */
const ports = (given: Claim | null, see: () => Promise<Endpoint | null> = async () => endpoint(), isWritten = true) => {
  const asked: string[] = []
  const changes: Change[] = []
  const vendor = (name: string) => async () => {
    asked.push(name)
    return see()
  }
  const operations = { ensure: vendor('ensure'), observe: vendor('observe'), destroy: vendor('destroy') }
  const launch: Vendor = { ...operations, list: async () => [] }
  const record = async (_claim: Claim, change: Change) => {
    changes.push(change)
    return isWritten
  }
  const all: Ports = {
    store: { claim: async () => given, record },
    vendors: { launch, llmengine: launch },
    ring: async ({ id }, delayMs) => void asked.push(`ring ${id} in ${delayMs}`),
    startStep: () => startStep(60_000),
    random: () => 0,
    limits: LIMITS,
  }
  return { asked, changes, all }
}

describe('a step asks the vendor', () => {
  test.each([
    ['a create nobody accepted', claim(), 'ensure'],
    ['an update nobody accepted', claim({ kind: 'update' }), 'ensure'],
    ['one whose earlier write may still land', claim({ settlesInMs: 1 }), 'observe'],
    ['one whose limit on queueing is reached', claim({ queuedMs: LIMITS.queueingMs }), 'observe'],
    ['one whose limit on queueing is near', claim({ queuedMs: LIMITS.queueingMs - 1 }), 'ensure'],
    ['one the vendor accepted', accepted(), 'observe'],
    ['a delete', claim({ kind: 'delete' }), 'destroy'],
    ['a cleanup, whatever may still land', claim({ kind: 'cleanup', settlesInMs: 1 }), 'destroy'],
  ] as const)('for %s', async (_case, given, operation) => {
    const { asked, all } = ports(given)
    await advance(all, given.id)
    expect(asked[0]).toBe(operation)
  })
})

test('a deployment that goes on is rung for when it is due, one that ended is not', async () => {
  const building = ports(accepted({ acceptedMs: 40_000 }), async () => endpoint({ state: 'building' }))
  expect(await advance(building.all, 'deploy_1')).toMatchObject({ result: 'advanced', error: null })
  expect(building.asked).toEqual(['observe', 'ring deploy_1 in 5000'])
  const ended = ports(accepted({ phase: 'verifying' }))
  await advance(ended.all, 'deploy_1')
  expect(ended.asked).toEqual(['observe'])
})

test('nothing is asked about what is not due, and nothing is rung for what was lost', async () => {
  const idle = ports(null)
  expect(await advance(idle.all, 'deploy_1')).toEqual({ result: 'idle' })
  expect(idle.asked).toEqual([])
  const lost = ports(accepted(), async () => endpoint({ state: 'building' }), false)
  expect(await advance(lost.all, 'deploy_1')).toMatchObject({ result: 'lost' })
  expect(lost.asked).toEqual(['observe'])
})

test('a fault of our own is tried again, and what it may have written is not forgotten', async () => {
  const { changes, all } = ports(claim(), () => Promise.reject(new TypeError('a bug')))
  expect(await advance(all, 'deploy_1')).toMatchObject({ result: 'advanced', error: { reason: 'internal_error' } })
  expect(changes).toMatchObject([{ phase: 'queued', reason_code: 'internal_error', attempts: 1, uncertain: true }])
})
