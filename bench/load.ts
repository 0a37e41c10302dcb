import { connect, type Socket } from 'node:net'

export type Target = { url: string; method: string; path: string; headers?: Record<string, string>; body?: string }

export type LoadResult = { requests: number; shed: number; perSecond: number; p50Ms: number; p99Ms: number }

const requestOf = ({ url, method, path, headers = {}, body = '' }: Target): Buffer => {
  const all: Record<string, string> = {
    host: new URL(url).host,
    ...headers,
    'content-length': String(Buffer.byteLength(body)),
  }
  if (body !== '') all['content-type'] = 'application/json'
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
}

const HEAD_END = Buffer.from('\r\n\r\n')

/** Sends one request and resolves with the status once its answer is whole. */
const exchange = (socket: Socket, request: Buffer): Promise<number> =>
  new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0)
    const stop = () => socket.off('data', onData).off('error', onError).off('close', onClose)
    const onError = (error: Error) => {
      stop()
      reject(error)
    }
    const onClose = () => onError(new Error('the connection was closed'))
    const onData = (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
      const end = received.indexOf(HEAD_END)
      if (end === -1) return
      const head = received.toString('latin1', 0, end)
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
      if (received.length < end + HEAD_END.length + length) return
      stop()
      resolve(Number(head.slice(9, 12)))
    }
    socket.on('data', onData).on('error', onError).on('close', onClose)
    socket.write(request)
  })

const open = (url: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname, () => resolve(socket)).once('error', reject)
    socket.setNoDelay(true)
  })

const percentile = (sorted: readonly number[], share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0

/**
 * Keeps one request under way on each connection for `seconds`.
 *
 * @param targetOf the next request of a connection
 * @throws when an answer is neither 200, 202 nor 503; the last are told apart as `shed`
 */
export const load = async (
  url: string,
  { connections, seconds }: { connections: number; seconds: number },
  targetOf: (connection: number) => Target,
): Promise<LoadResult> => {
  const latencies: number[] = []
  let shed = 0
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(url)))
  const started = performance.now()
  const drive = async (socket: Socket, connection: number) => {
    while (performance.now() - started < seconds * 1000) {
      const sent = performance.now()
      const status = await exchange(socket, requestOf(targetOf(connection)))
      if (status === 200 || status === 202) latencies.push(performance.now() - sent)
      else if (status === 503) shed += 1
      else throw new Error(`the answer was ${status}`)
    }
    socket.destroy()
  }
  await Promise.all(sockets.map(drive))
  const took = (performance.now() - started) / 1000
  const sorted = latencies.toSorted((one, other) => one - other)
  return {
    requests: sorted.length,
    shed,
    perSecond: Math.round(sorted.length / took),
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
  }
}
