import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { clientAddress } from './client-address.ts'

const incoming = (forwarded?: string) =>
  ({ headers: { 'x-forwarded-for': forwarded }, socket: { remoteAddress: '10.0.0.1' } }) as unknown as IncomingMessage

test.each([
  ['the peer, whatever the header says', 0, '1.1.1.1', '10.0.0.1'],
  ['what the one proxy saw', 1, '6.6.6.6, 1.1.1.1', '1.1.1.1'],
  ['what the outer of two proxies saw', 2, '6.6.6.6, 1.1.1.1, 10.0.0.9', '1.1.1.1'],
  ['unknown when the header is shorter than the line of proxies', 2, '1.1.1.1', undefined],
  ['unknown without the header', 1, undefined, undefined],
])('%s', (_, hops, forwarded, address) => {
  expect(clientAddress(incoming(forwarded), hops)).toBe(address)
})
