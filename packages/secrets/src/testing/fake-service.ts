import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export type FakeRequest = { method: string; path: string; host: string; headers: Record<string, string>; body: string }
export type FakeAnswer = { status: number; body: object | string; headers?: Record<string, string> }

/** How a service is away: it breaks the connection, never answers, or answers this. */
export type Outage = 'cut' | 'hang' | FakeAnswer

const readRequest = async (incoming: IncomingMessage): Promise<FakeRequest> => ({
  method: incoming.method ?? '',
  path: incoming.url ?? '',
  host: incoming.headers.host ?? '',
  headers: Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)])),
  body: await text(incoming),
})

/** A real HTTP server on the loopback that answers like a service, or is away for its next `outages`. */
export const startFake = async (answer: (request: FakeRequest) => FakeAnswer) => {
  const requests: FakeRequest[] = []
  const outages: Outage[] = []
  const respond = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const request = await readRequest(incoming)
    requests.push(request)
    const outage = outages.shift()
    if (outage === 'hang') return
    if (outage === 'cut') {
      incoming.socket.destroy()
      return
    }
    const { status, body, headers } = outage ?? answer(request)
    outgoing.writeHead(status, { 'content-type': 'application/json', ...headers })
    outgoing.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
  const server = createServer((incoming, outgoing) => void respond(incoming, outgoing))
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const close = () =>
    new Promise<void>((closed) => {
      server.close(() => closed())
      server.closeAllConnections()
    })
  return { url, requests, outages, close, [Symbol.asyncDispose]: close }
}

export type FakeService = Awaited<ReturnType<typeof startFake>>
