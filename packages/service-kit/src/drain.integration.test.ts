import { once } from 'node:events'
import { eventually } from '@keelson/testing'
import { expect, test } from 'vitest'
import { listen } from './listen.ts'
import { ACCOUNT, testService } from './test-service.ts'
import { exchange, openSocket, parseAnswer, readAll } from './test-socket.ts'

const GET = 'GET /notes HTTP/1.1\r\nHost: a\r\n\r\n'

const gated = async (drainMs: number) => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  const service = testService({
    authenticate: async (headers) => {
      if (headers.get('x-wait') !== null) await gate
      return { ...ACCOUNT, scopes: null }
    },
  })
  const server = await listen(service, { host: '127.0.0.1', port: 0, metricsPort: 0, drainMs })
  return { service, server, open }
}

test('draining answers what is in flight, closes its connection, takes no new one, and ends', async () => {
  const { service, server, open } = await gated(10_000)
  const [busy, silent, idle] = await Promise.all([
    openSocket(server.url),
    openSocket(server.url),
    openSocket(server.url),
  ])
  idle.write(GET)
  await once(idle, 'data')
  busy.write(GET.replace('\r\n\r\n', '\r\nX-Wait: 1\r\n\r\n'))
  await eventually(() => expect(service.load.inFlight).toBe(1))

  const answer = readAll(busy)
  const closed = Promise.all([once(silent, 'close'), once(idle, 'close')])
  const started = performance.now()
  const drained = server[Symbol.asyncDispose]()
  await eventually(async () => await expect(exchange(server.url, GET)).rejects.toThrow('ECONNREFUSED'))
  open()
  expect(parseAnswer(await answer)).toMatchObject({ status: 200, headers: { connection: 'close' } })
  await Promise.all([drained, closed])
  expect(performance.now() - started).toBeLessThan(5000)
})

test('a request that comes on an idle connection while draining starts is answered', async () => {
  const { server } = await gated(10_000)
  const idle = await openSocket(server.url)
  idle.write(GET)
  await once(idle, 'data')
  const drained = server[Symbol.asyncDispose]()
  idle.write(GET)
  expect(parseAnswer(await readAll(idle))).toMatchObject({ status: 200, headers: { connection: 'close' } })
  await drained
})

test('at the deadline what is still in flight is cut off', async () => {
  const { service, server } = await gated(400)
  const stuck = await openSocket(server.url)
  stuck.write(GET.replace('\r\n\r\n', '\r\nX-Wait: 1\r\n\r\n'))
  await eventually(() => expect(service.load.inFlight).toBe(1))
  const started = performance.now()
  await Promise.all([server[Symbol.asyncDispose](), once(stuck, 'close')])
  expect(performance.now() - started).toBeLessThan(4000)
  expect(service.lines.at(-1)).toMatchObject({ message: 'drained', count: 1 })
})

test('a port in use fails the start, and leaves nothing open', async () => {
  const { server } = await gated(100)
  const port = Number(new URL(server.url).port)
  await expect(listen(testService(), { host: '127.0.0.1', port, metricsPort: 0, drainMs: 100 })).rejects.toThrow(
    'EADDRINUSE',
  )
  await server[Symbol.asyncDispose]()
})
