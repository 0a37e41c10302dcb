import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'

/** One request that reached an agent, and what it was answered. */
export type Receipt = { canary: string; delivery: string; attempt: number; status: number; body: string; url: string }

const REFUSED = 0.08
const CUT = 0.05

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

/** The agents of all accounts on one port, each below its canary; now and then one refuses, or hangs up after its work. */
export const startAgent = async (canaries: readonly string[], random: () => number) => {
  const receipts: Receipt[] = []
  const server = createServer((request, response) => {
    const take = (body: string): void => {
      const { 'x-github-delivery': delivery, 'x-keelson-attempt': attempt } = request.headers
      const url = request.url ?? ''
      const canary = canaries.find((one) => url.startsWith(`/${one}/`)) ?? ''
      const status = random() < REFUSED ? 500 : 200
      receipts.push({ canary, delivery: String(delivery), attempt: Number(attempt), status, body, url })
      if (random() < CUT) request.socket.resetAndDestroy()
      else response.writeHead(status).end()
    }
    // A request that was cut off never reached the agent.
    bodyOf(request).then(take, () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  return {
    port,
    receipts,
    [Symbol.dispose]: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
