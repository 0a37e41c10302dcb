import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export type Received = { method: string; url: string; headers: IncomingHttpHeaders; body: Buffer }

/** An agent on loopback that remembers what it was sent; it answers `ok`, or as told. */
export const testAgent = async (answer: RequestListener = (_request, response) => void response.end('ok')) => {
  const received: Received[] = []
  const agent = { received, answer, url: '' }
  const receive = async (...[request, response]: Parameters<RequestListener>) => {
    const body = await buffer(request)
    const { method = '', url = '', headers } = request
    received.push({ method, url, headers, body })
    agent.answer(request, response)
  }
  const server = createServer((request, response) => void receive(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  agent.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const dispose = async () => {
    server.close()
    server.closeAllConnections()
  }
  return Object.assign(agent, { [Symbol.asyncDispose]: dispose })
}
