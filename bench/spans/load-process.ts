import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** One kind of request; `{n}` in path and body becomes a number of its own for each. */
export type Load = {
  url: string
  tokens: readonly string[]
  connections: number
  seconds: number
  method: string
  path: string
  body?: string
  /** Numbers start here, and begin again after `count`. */
  from?: number
  count?: number
  /** Whether to go on after failures, and to tell which numbers were answered 200. */
  tolerant?: boolean
}

export type Loaded = {
  perSecond: number
  p50Ms: number
  p99Ms: number
  statuses: Record<string, number>
  next: number
  acknowledged: number[]
}

type Answer = { status: number; bytes: number }

const HEAD_END = Buffer.from('\r\n\r\n')

const open = (url: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const socket = connect({ port: Number(port), host: hostname, noDelay: true }, () => resolve(socket))
    socket.once('error', reject)
  })

/** Answers one at a time; listeners are set once for each connection. */
const exchanger = (socket: Socket) => {
  let settle: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | null = null
  let answer: Answer | null = null
  let missing = 0
  let head: Buffer = Buffer.alloc(0)
  const finish = () => {
    const done = settle
    const result = answer
    settle = answer = null
    if (result) done?.resolve(result)
  }
  socket.on('data', (chunk: Buffer) => {
    if (answer) {
      missing -= chunk.length
      if (missing <= 0) finish()
      return
    }
    head = head.length === 0 ? chunk : Buffer.concat([head, chunk])
    const end = head.indexOf(HEAD_END)
    if (end === -1) return
    const text = head.toString('latin1', 0, end)
    const bytes = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
    answer = { status: Number(text.slice(9, 12)), bytes }
    missing = bytes - (head.length - end - HEAD_END.length)
    head = Buffer.alloc(0)
    if (missing <= 0) finish()
  })
  const fail = () => settle?.reject(new Error('the connection was closed'))
  socket.on('error', fail).on('close', fail)
  return (request: string) =>
    new Promise<Answer>((resolve, reject) => {
      if (socket.destroyed) return reject(new Error('the connection was closed'))
      settle = { resolve, reject }
      socket.write(request)
    })
}

/** The requests of one connection, as texts with one place for the number of each. */
const requestsOf = ({ url, tokens, method, path, body = '' }: Load, connection: number) => {
  const token = tokens[connection % tokens.length]
  const head = `HTTP/1.1\r\nhost: ${new URL(url).host}\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: `
  return (n: number): string => {
    const filled = body.replaceAll('{n}', `${n}`)
    return `${method} ${path.replace('{n}', `${n}`)} ${head}${Buffer.byteLength(filled)}\r\n\r\n${filled}`
  }
}

const percentile = (sorted: readonly number[], share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0

const run = async (load: Load): Promise<Loaded> => {
  const { url, connections, seconds, from = 0, count = Infinity, tolerant = false } = load
  const latencies: number[] = []
  const statuses: Record<string, number> = {}
  const acknowledged: number[] = []
  const started = performance.now()
  const until = started + seconds * 1000
  let next = 0

  const exchangeAll = async (socket: Socket, requestOf: (n: number) => string): Promise<void> => {
    const exchange = exchanger(socket)
    while (performance.now() < until) {
      const n = from + (next++ % count)
      const sent = performance.now()
      const { status } = await exchange(requestOf(n))
      if (status === 200) latencies.push(performance.now() - sent)
      statuses[status] = (statuses[status] ?? 0) + 1
      if (status === 200 && tolerant) acknowledged.push(n)
      if (status !== 200 && status !== 503 && !tolerant) throw new Error(`an answer of ${status}`)
      if (status === 503) await delay(20)
    }
  }

  const drive = async (connection: number): Promise<void> => {
    const requestOf = requestsOf(load, connection)
    while (performance.now() < until) {
      try {
        const socket = await open(url)
        await exchangeAll(socket, requestOf).finally(() => socket.destroy())
      } catch (error) {
        if (!tolerant) throw error
        statuses['broken'] = (statuses['broken'] ?? 0) + 1
        await delay(20)
      }
    }
  }

  await Promise.all(Array.from({ length: connections }, (_, connection) => drive(connection)))
  const took = (performance.now() - started) / 1000
  const sorted = Float64Array.from(latencies).toSorted()
  return {
    perSecond: (statuses['200'] ?? 0) / took,
    p50Ms: percentile([...sorted], 0.5),
    p99Ms: percentile([...sorted], 0.99),
    statuses,
    next: from + next,
    acknowledged,
  }
}

process.on('disconnect', () => process.exit())
process.on('message', (load: Load) => {
  void run(load)
    .catch((error: unknown) => ({ error: String(error) }))
    .then((outcome) => process.send?.(outcome))
})
