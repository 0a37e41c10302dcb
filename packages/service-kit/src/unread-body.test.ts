import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { DROPPED_BYTES, isStillSending } from './unread-body.ts'

type Head = Partial<Pick<IncomingMessage, 'complete' | 'destroyed' | 'readableLength'>>

const isSending = (headers: Record<string, string>, head: Head = {}) =>
  isStillSending({ complete: false, destroyed: false, readableLength: 0, headers, ...head } as IncomingMessage)

test.each<[string, Record<string, string>, Head]>([
  ['a request without a body', {}, {}],
  ['an empty body', { 'content-length': '0' }, {}],
  ['a body that has come, though nobody read it', { 'content-length': '10' }, { readableLength: 10 }],
  ['a chunked body that has ended', { 'transfer-encoding': 'chunked' }, { complete: true }],
  ['a client that waits to be asked for its body', { 'content-length': '10', expect: '100-continue' }, {}],
  ['a client that has gone', { 'content-length': '10' }, { destroyed: true }],
  ['more than is worth dropping', { 'content-length': String(DROPPED_BYTES + 1) }, {}],
])('nothing is waited for: %s', (_, headers, head) => {
  expect(isSending(headers, head)).toBe(false)
})

test.each<[string, Record<string, string>, Head]>([
  ['a body of which a part has come', { 'content-length': '10' }, { readableLength: 9 }],
  ['a chunked body', { 'transfer-encoding': 'chunked' }, { readableLength: 9 }],
  ['as much as is dropped', { 'content-length': String(DROPPED_BYTES) }, {}],
])('the rest is waited for: %s', (_, headers, head) => {
  expect(isSending(headers, head)).toBe(true)
})
