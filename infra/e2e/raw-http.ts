import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

type Described = { method: string; path: string; headers: [string, string][]; body: string | Buffer | undefined }

export type RawAnswer = { status: number; headers: Record<string, string>; text: string; code: string | undefined }

const bytesOf = (host: string, { method, path, headers, body }: Described): Buffer => {
  const content = Buffer.from(body ?? '')
  const length: [string, string][] =
    body === undefined || headers.some(([name]) => name === 'transfer-encoding')
      ? []
      : [['content-length', String(content.length)]]
  const lines = [['host', host], ...headers, ...length].map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1'), content])
}

const codeOf = (body: string): string | undefined => {
  try {
    return (JSON.parse(body) as { code?: string }).code
  } catch {
    return undefined
  }
}

const unchunked = (body: string): string => body.replaceAll(/(?:^|\r\n)[0-9a-f]+\r\n/g, '').replace(/\r\n$/, '')

const parsed = (text: string): RawAnswer => {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const body = headers['transfer-encoding'] === 'chunked' ? unchunked(rest.join('\r\n\r\n')) : rest.join('\r\n\r\n')
  return { status: Number(statusLine.split(' ')[1] ?? 0), headers, text, code: codeOf(body) }
}

const HEAD_END = '\r\n\r\n'

/** How many bytes an answer has altogether, once its head has come; infinite for one that only its connection ends. */
const wholeLength = (bytes: Buffer, method: string | undefined): number => {
  const at = bytes.indexOf(HEAD_END)
  const { status, headers } = parsed(bytes.subarray(0, Math.max(at, 0)).toString('latin1'))
  if (at === -1 || status === 100) return Infinity
  const isEmpty = method === 'HEAD' || status === 204 || status === 304
  return at + HEAD_END.length + (isEmpty ? 0 : Number(headers['content-length'] ?? Infinity))
}

/**
 * Sends bytes that `fetch` would refuse or repair, over a connection of its own, and reads the first answer. A
 * connection that ends without one has status 0. `wholeConnection` reads on until the server ends it.
 */
export const sendRaw = (
  url: string,
  request: Described | { raw: string | Buffer },
  { timeoutMs = 20_000, wholeConnection = false } = {},
) =>
  new Promise<RawAnswer>((resolve, reject) => {
    const { hostname, port, host } = new URL(url)
    const bytes = 'raw' in request ? request.raw : bytesOf(host, request)
    const method = 'raw' in request ? undefined : request.method
    const chunks: Buffer[] = []
    let received = 0
    let expected = Infinity
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(bytes))
    const done = () => {
      socket.destroy()
      resolve(parsed(Buffer.concat(chunks).toString('utf8')))
    }
    socket.setTimeout(timeoutMs, () => reject(new Error(`no answer in ${timeoutMs} ms`)))
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      received += chunk.length
      if (wholeConnection) return
      if (expected === Infinity) expected = wholeLength(Buffer.concat(chunks), method)
      if (received >= expected) done()
    })
    socket.on('end', done)
    // An answer may be followed by a reset when the server does not read the rest.
    socket.on('error', done)
  })

/** Sends bytes, then a little every 100 ms, and tells the status once the server ends it; 0 without an answer. */
export const sendSlowly = (url: string, first: string, drip: string) =>
  new Promise<number>((resolve) => {
    const { hostname, port } = new URL(url)
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(first))
    const timer = setInterval(() => drip !== '' && socket.write(drip), 100)
    let text = ''
    socket.on('data', (chunk) => (text += chunk.toString()))
    socket.on('error', () => {})
    socket.on('close', () => {
      clearInterval(timer)
      resolve(parsed(text).status)
    })
  })

/** Asks for something that sockets cannot hold and reads nothing of it; resolves once the server has had enough. */
export const neverRead = async (url: string, path: string, [name, value]: [string, string]): Promise<void> => {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.pause().write(`GET ${path} HTTP/1.1\r\nhost: a\r\n${name}: ${value}\r\n\r\n`)
  // A paused socket does not see its end; a write does.
  while (!socket.destroyed) {
    socket.write('\r\n')
    await delay(100)
  }
}
