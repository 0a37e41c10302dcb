import { describe, expect, test } from 'vitest'
import { errorOf, saysExists, updateErrorOf } from './answers.ts'
import { endpointView, stamp, stampedModels } from './endpoint-view.ts'

const MODEL_ID = 'model_01m7yv4z6nemes392zz3yj3p38'

const answer = (status: number, body: unknown = {}) => ({ status, body, retryAfterMs: 0 })

describe('what an answer means', () => {
  test.each([
    [400, { detail: 'Missing label team' }, 'vendor_rejected', false, false],
    [400, { detail: 'The specified custom Docker image could not be found.' }, 'image_not_found', false, false],
    [401, {}, 'vendor_unauthorized', false, false],
    [403, {}, 'vendor_unauthorized', false, false],
    [404, { detail: 'The specified docker image was not found' }, 'image_not_found', false, false],
    [404, { detail: 'Model bundle not found' }, 'vendor_rejected', false, false],
    [408, {}, 'vendor_unavailable', true, true],
    [409, {}, 'vendor_busy', true, false],
    [422, {}, 'vendor_rejected', false, false],
    [429, { error: 'Too many requests' }, 'vendor_unavailable', true, false],
    [500, { error: 'Internal error' }, 'vendor_error', true, false],
    [500, { detail: 'Endpoint infra state not found, try again later.' }, 'vendor_busy', true, false],
    [502, undefined, 'vendor_unavailable', true, true],
    [503, { detail: 'Please retry' }, 'vendor_unavailable', true, false],
    [504, undefined, 'vendor_unavailable', true, true],
    [307, undefined, 'vendor_unavailable', true, false],
  ] as const)('%i %j to a write -> %s, retryable %s, uncertain %s', (status, body, reason, retryable, uncertain) => {
    expect(errorOf(answer(status, body), true, [])).toMatchObject({ reason, retryable, uncertain })
  })

  test('nothing about a read is uncertain', () => {
    expect(errorOf(answer(504), false, [])).toMatchObject({ uncertain: false })
  })

  test('404 to an update of what was just found -> a stale reading, tried again', () => {
    expect(updateErrorOf(answer(404, { detail: 'not found' }), [])).toMatchObject({
      reason: 'vendor_error',
      retryable: true,
    })
    expect(updateErrorOf(answer(404, { detail: 'docker image not found' }), [])).toMatchObject({
      reason: 'image_not_found',
    })
  })

  test.each([
    [{ detail: 'plain' }, 'plain'],
    [{ detail: [{ loc: ['body', 'gpus'], msg: 'too many' }, { msg: 'bad' }] }, 'gpus: too many; bad'],
    [{ error: 'from the middleware' }, 'from the middleware'],
    ['<html>', 'HTTP 400'],
    [{ detail: { odd: 1 } }, 'HTTP 400'],
  ])('the words of %j', (body, words) => {
    expect(errorOf(answer(400, body), true, []).detail).toBe(words)
  })

  test('exists is 400 with those words, nothing else', () => {
    expect(saysExists(answer(400, { detail: 'The specified model endpoint already exists.' }))).toBe(true)
    expect(saysExists(answer(400, { detail: 'Missing label' }))).toBe(false)
    expect(saysExists(answer(500, { detail: 'already exists' }))).toBe(false)
  })
})

describe('what a description means', () => {
  const spec = { account_id: 'a', model_id: MODEL_ID, generation: 7, configuration: '{}', traceparent: null }
  const described = (over: object = {}) => ({
    metadata: stamp(spec),
    status_reason: 'why',
    deployment_state: null,
    ...over,
  })

  test.each([
    ['READY', 'ready'],
    ['UPDATE_PENDING', 'pending'],
    ['UPDATE_IN_PROGRESS', 'building'],
    ['UPDATE_FAILED', 'failed'],
    ['DELETE_IN_PROGRESS', 'deleting'],
    ['INITIALIZING', 'building'],
  ])('%s -> %s', (status, state) => {
    expect(endpointView(described(), status, 1)).toMatchObject({ state, generation: 7 })
  })

  test('a reason is only one of a failure', () => {
    expect(endpointView(described(), 'UPDATE_FAILED', 1).reason).toBe('why')
    expect(endpointView(described(), 'READY', 1).reason).toBeNull()
  })

  test('workers are counted when the vendor has counted, or when none are wanted', () => {
    const deployment_state = { available_workers: 2, unavailable_workers: null }
    expect(endpointView(described({ deployment_state }), 'READY', 3).workers).toEqual({
      available: 2,
      unavailable: 0,
      wanted: 3,
    })
    expect(endpointView(described(), 'READY', 3).workers).toBeNull()
    expect(endpointView(described(), 'READY', 0).workers).toEqual({ available: 0, unavailable: 0, wanted: 0 })
    expect(endpointView(described(), 'UPDATE_FAILED', 0).workers).toBeNull()
  })

  test('without a stamp it is of no generation', () => {
    expect(endpointView({ metadata: {} }, 'READY', 1).generation).toBeNull()
    expect(endpointView({ metadata: { keelson_generation: 'x' } }, 'READY', 1).generation).toBeNull()
  })

  test.each([
    [null, 'READY'],
    [{}, 'READY'],
    [{ metadata: {} }, null],
    [{ metadata: [] }, 'READY'],
  ])('%j, %s -> not understood', (description, status) => {
    expect(() => endpointView(description, status, 1)).toThrow('its answer has no')
  })

  test('a list tells whose endpoints are ours', () => {
    const body = {
      model_endpoints: [
        { metadata: stamp(spec) },
        { metadata: { keelson_model_id: '../x' } },
        { metadata: {} },
        {},
        null,
      ],
    }
    expect(stampedModels(body, (entry) => entry)).toEqual([MODEL_ID])
  })
})
