import { expect, test } from 'vitest'
import { traceparentOf, validTraceparent } from './bullmq-options.ts'
import { catalogue } from './catalogue.ts'

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

test.each(Object.entries(catalogue))('%s carries ids and nothing else', (_, { schema }) => {
  const names = Object.keys(schema.shape)
  expect(names.filter((name) => !name.endsWith('_id'))).toEqual([])
  const payloadOf = (value: unknown) => Object.fromEntries(names.map((name) => [name, value]))
  expect(schema.safeParse(payloadOf('deploy_01k3x9')).success).toBe(true)
  for (const value of ['', 'two words', '{"a":1}', 'https://example.com', 'x'.repeat(65), 7, null]) {
    expect(schema.safeParse(payloadOf(value)).success).toBe(false)
  }
  expect(schema.parse({ ...payloadOf('a'), secret: 'canary' })).toEqual(payloadOf('a'))
})

test('a traceparent is taken only when well formed', () => {
  expect(validTraceparent(TRACEPARENT)).toBe(TRACEPARENT)
  for (const text of ['', 'hunter2', `${TRACEPARENT}x`, TRACEPARENT.toUpperCase(), 7, undefined])
    expect(validTraceparent(text)).toBeUndefined()
})

test('a job without a readable trace has none', () => {
  expect(traceparentOf({ telemetry: { metadata: JSON.stringify({ traceparent: TRACEPARENT }) } })).toBe(TRACEPARENT)
  for (const metadata of ['', 'null', '[]', '{"traceparent":7}', '{'])
    expect(traceparentOf({ telemetry: { metadata } })).toBeUndefined()
  expect(traceparentOf({})).toBeUndefined()
})
