import { describe, expect, test } from 'vitest'
import { startStep } from './step.ts'
import { endpointName, vendorOver, type Endpoint, type Spec } from './vendor.ts'

const SPEC: Spec = { account_id: 'acct_1', model_id: 'model_1', generation: 5, configuration: '{}', traceparent: null }

const endpoint = (over: Partial<Endpoint> = {}): Endpoint => ({
  state: 'ready',
  generation: 5,
  reason: null,
  workers: { available: 1, unavailable: 0, wanted: 1 },
  ...over,
})

/** A vendor that shows these endpoints one after the other, and the calls it got. */
const vendor = (shown: (Endpoint | null)[], created: 'created' | 'exists' = 'created') => {
  const calls: string[] = []
  const tell = (name: string) => async () => void calls.push(name)
  const find = async () => shown.shift() ?? null
  const create = async () => {
    calls.push('create')
    return created
  }
  return {
    calls,
    ...vendorOver({ find, create, update: tell('update'), remove: tell('remove'), list: async () => [] }),
  }
}

const step = startStep(60_000)

describe('ensure', () => {
  test('creates what is not there', async () => {
    const it = vendor([null])
    expect(await it.ensure(SPEC, step)).toMatchObject({ state: 'pending', generation: 5 })
    expect(it.calls).toEqual(['create'])
  })

  test.each([4, null])('updates what carries generation %s', async (generation) => {
    const it = vendor([endpoint({ generation })])
    expect(await it.ensure(SPEC, step)).toMatchObject({ state: 'pending', generation: 5 })
    expect(it.calls).toEqual(['update'])
  })

  test.each([5, 6])('leaves alone what carries generation %s', async (generation) => {
    const it = vendor([endpoint({ generation })])
    expect(await it.ensure(SPEC, step)).toMatchObject({ generation })
    expect(it.calls).toEqual([])
  })

  test('waits while an earlier one is being deleted', async () => {
    const it = vendor([endpoint({ state: 'deleting', generation: 4 })])
    expect(await it.ensure(SPEC, step)).toMatchObject({ state: 'deleting' })
    expect(it.calls).toEqual([])
  })

  test('replaces what never came up, because it cannot be updated', async () => {
    const it = vendor([endpoint({ state: 'failed', generation: 4, workers: null })])
    expect(await it.ensure(SPEC, step)).toMatchObject({ state: 'deleting' })
    expect(it.calls).toEqual(['remove'])
  })

  test('updates in place what failed while scaled to zero', async () => {
    const it = vendor([
      endpoint({ state: 'failed', generation: 4, workers: { available: 0, unavailable: 0, wanted: 0 } }),
    ])
    await it.ensure(SPEC, step)
    expect(it.calls).toEqual(['update'])
  })

  test('updates in place what failed but serves', async () => {
    const it = vendor([endpoint({ state: 'failed', generation: 4 })])
    await it.ensure(SPEC, step)
    expect(it.calls).toEqual(['update'])
  })

  test('"already exists", ours -> adopted', async () => {
    const it = vendor([null, endpoint({ state: 'building' })], 'exists')
    expect(await it.ensure(SPEC, step)).toMatchObject({ state: 'building', generation: 5 })
    expect(it.calls).toEqual(['create'])
  })

  test('"already exists", of an older generation -> updated', async () => {
    const it = vendor([null, endpoint({ generation: 4 })], 'exists')
    await it.ensure(SPEC, step)
    expect(it.calls).toEqual(['create', 'update'])
  })

  test('"already exists", but not shown yet -> looked for later', async () => {
    expect(await vendor([null, null], 'exists').ensure(SPEC, step)).toBeNull()
  })
})

describe('destroy', () => {
  test('removes what is there', async () => {
    const it = vendor([endpoint()])
    expect(await it.destroy(SPEC, step)).toMatchObject({ state: 'deleting' })
    expect(it.calls).toEqual(['remove'])
  })

  test.each([
    ['nothing is there', null],
    ['it is being deleted', endpoint({ state: 'deleting' })],
    ['it carries a later generation', endpoint({ generation: 6 })],
  ])('does nothing when %s', async (_case, shown) => {
    const it = vendor([shown])
    expect(await it.destroy(SPEC, step)).toEqual(shown)
    expect(it.calls).toEqual([])
  })
})

test('the name at the vendor comes from the id of the model and fits DNS and Kubernetes', () => {
  const name = endpointName('model_01m7yv4z6nemes392zz3yj3p38')
  expect(name).toBe('keelson-01m7yv4z6nemes392zz3yj3p38')
  expect(name).toMatch(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/)
})
