import { createServer, request, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { bodyBudget } from './body-budget.ts'
import { readBody } from './request-body.ts'
import type { RequestFacts } from './request-facts.ts'
import { closeServer, openServer } from './sockets.ts'
import { ACCOUNT } from './test-service.ts'

const LIMIT = 2_000_000

const post = (url: string, pieces: Buffer[], headers: Record<string, string | number>): Promise<Buffer> => {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const sending = request(url, { method: 'POST', headers, agent: false })
  sending.on('response', (answer) => resolve(buffer(answer))).on('error', reject)
  for (const piece of pieces) sending.write(piece)
  sending.end()
  return promise
}

const factsOf = (incoming: IncomingMessage): RequestFacts => {
  const received = new Headers(incoming.headers as Record<string, string>)
  const principal = received.has('authorization') ? { ...ACCOUNT, scopes: new Set() } : null
  return {
    incoming,
    received,
    principal,
    bodyBytes: 0,
    bodies: bodyBudget(2 * LIMIT, () => {}),
  } as unknown as RequestFacts
}

test.each([
  ['a caller who declares the length', (bytes: number) => ({ authorization: 'x', 'content-length': bytes })],
  ['a caller who sends chunks', () => ({ authorization: 'x' })],
  ['a stranger who declares the length', (bytes: number) => ({ 'content-length': bytes })],
])('a body of any size and in any pieces arrives as it was sent, from %s', async (_name, headersOf) => {
  const server = createServer((incoming, outgoing) => {
    const reading = readBody(new Request('http://service.test'), factsOf(incoming), LIMIT)
    void reading.catch(String).then((body) => outgoing.end(body))
  })
  const url = await openServer(server, '127.0.0.1', 0)
  for (const sizes of [[], [1], [65_536], [65_537], [10, 70_000, 1], [1, 999_999, 500_000]]) {
    const pieces = sizes.map((size) => randomBytes(size))
    const sent = Buffer.concat(pieces)
    expect(sent.equals(await post(url, pieces, headersOf(sent.length)))).toBe(true)
  }
  await closeServer(server)
})
