import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** What is asked; `{n}` in path, headers and body becomes a number of its own each time. */
export type Request = { method: string; path: string; headers?: Record<string, string>; body?: string }

export type Load = {
  url: string
  /** The requests of the first connection, of the second, and so on; in turn when there are more connections. */
  requests: readonly Request[]
  /** Each has one request under way at a time. */
  connections: number
  seconds: number
  /** Numbers start here, and begin again after `count`. */
  from?: number
  count?: number
}

export type Loaded = {
  /** How many succeeded; rate and latencies are theirs. */
  requests: number
  /** How many were answered 429 or 503. */
  shed: number
  perSecond: number
  p50Ms: number
  p99Ms: number
}

const HEAD_END = Buffer.from('\r\n\r\n')

const open = (url: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const socket = connect({ port: Number(port), host: hostname, noDelay: true }, () => resolve(socket))
    socket.once('error', reject)
  })

/** Answers one at a time; listeners are set once for each connection. */
const exchanger = (socket: Socket) => {
  let settle: { resolve: (status: number) => void; reject: (error: Error) => void } | null = null
  let status: number | null = null
  let missing = 0
  let head: Buffer = Buffer.alloc(0)
  const finish = () => {
    const done = settle
    const result = status
    settle = status = null
    if (result !== null) done?.resolve(result)
  }
  socket.on('data', (chunk: Buffer) => {
    if (status !== null) {
      missing -= chunk.length
      if (missing <= 0) finish()
      return
    }
    head = head.length === 0 ? chunk : Buffer.concat([head, chunk])
    const end = head.indexOf(HEAD_END)
    if (end === -1) return
    const text = head.toString('latin1', 0, end)
    const bytes = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
    status = Number(text.slice(9, 12))
    missing = bytes - (head.length - end - HEAD_END.length)
    head = Buffer.alloc(0)
    if (missing <= 0) finish()
  })
  const fail = () => settle?.reject(new Error('the connection was closed'))
  socket.on('error', fail).on('close', fail)
  return (request: string) =>
    new Promise<number>((resolve, reject) => {
      if (socket.destroyed) return reject(new Error('the connection was closed'))
      settle = { resolve, reject }
      socket.write(request)
    })
}

/** A text with a number for the places that want one. */
const numbered = (text: string) => (text.includes('{n}') ? (n: number) => text.replaceAll('{n}', `${n}`) : () => text)

const textsOf = (url: string, { method, path, headers = {}, body }: Request) => {
  const all = { host: new URL(url).host, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  const headOf = numbered(`${method} ${path} HTTP/1.1\r\n${lines.join('')}content-length: `)
  const bodyOf = numbered(body ?? '')
  return (n: number): string => {
    const filled = bodyOf(n)
    return `${headOf(n)}${Buffer.byteLength(filled)}\r\n\r\n${filled}`
  }
}

const percentile = (sorted: Float64Array, share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0

const run = async (load: Load): Promise<Loaded> => {
  const { url, requests, connections, seconds, from = 0, count = Infinity } = load
  const latencies: number[] = []
  let shed = 0
  let next = 0
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(url)))
  const started = performance.now()
  const until = started + seconds * 1000

  const drive = async (socket: Socket, connection: number): Promise<void> => {
    const textOf = textsOf(url, requests[connection % requests.length]!)
    const exchange = exchanger(socket)
    while (performance.now() < until) {
      const sent = performance.now()
      const status = await exchange(textOf(from + (next++ % count)))
      if (status >= 200 && status < 300) latencies.push(performance.now() - sent)
      else if (status === 503 || status === 429) shed += 1
      else throw new Error(`${load.requests[0]?.method} ${load.requests[0]?.path} was answered ${status}`)
      if (status === 503) await delay(20)
    }
  }

  await Promise.all(sockets.map(drive)).finally(() => sockets.forEach((socket) => socket.destroy()))
  const took = (performance.now() - started) / 1000
  const sorted = Float64Array.from(latencies).toSorted()
  return {
    requests: sorted.length,
    shed,
    perSecond: sorted.length / took,
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
  }
}

process.on('disconnect', () => process.exit())
process.on('message', (load: Load) => {
  void run(load)
    .catch((error: unknown) => ({ error: String(error) }))
    .then((outcome) => process.send?.(outcome))
})
