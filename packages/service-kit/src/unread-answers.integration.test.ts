import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { eventually } from '@keelson/testing'
import { closeServer, openServer } from './sockets.ts'
import { openSocket } from './test-socket.ts'
import { unreadAnswers } from './unread-answers.ts'

const LARGE = Buffer.alloc(32_000_000, 'x')

test('answers nobody takes are cut off after their time; sooner, the oldest first, where they hold too much', async () => {
  const unread = unreadAnswers({ timeoutMs: 60_000, graceMs: 1000, maxBytes: 40_000_000 })
  const answers: ServerResponse[] = []
  const server = createServer((_request, outgoing) => {
    outgoing.end(LARGE)
    unread.watch(outgoing)
    answers.push(outgoing)
  })
  const url = await openServer(server, '127.0.0.1', 0)
  for (const count of [1, 2, 3]) {
    const socket = await openSocket(url)
    socket.pause().write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    await eventually(() => expect(answers).toHaveLength(count))
  }
  const afterMs = (ms: number) => {
    unread.cut(performance.now() + ms)
    return answers.map(({ destroyed }) => destroyed)
  }
  expect(afterMs(0)).toEqual([false, false, false])
  expect(afterMs(2000)).toEqual([true, true, false])
  const closed = once(answers[2]!, 'close')
  expect(afterMs(61_000)).toEqual([true, true, true])
  await closed
  await closeServer(server)
})
