import { connect } from 'node:net'

type Described = { method: string; path: string; headers: [string, string][]; body: string | Buffer | undefined }

export type RawAnswer = { status: number; headers: Record<string, string>; text: string; code: string | undefined }

const bytesOf = (host: string, { method, path, headers, body }: Described): Buffer => {
  const content = Buffer.from(body ?? '')
  const length: [string, string][] =
    body === undefined || headers.some(([name]) => name === 'transfer-encoding')
      ? []
      : [['content-length', String(content.length)]]
  const lines = [['host', host], ['connection', 'close'], ...headers, ...length].map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
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

/**
 * Sends bytes that `fetch` would refuse or repair, over a connection of its own, and reads the first answer. A
 * connection that ends without one has status 0.
 */
export const sendRaw = (url: string, request: Described | { raw: string | Buffer }, timeoutMs = 20_000) =>
  new Promise<RawAnswer>((resolve, reject) => {
    const { hostname, port, host } = new URL(url)
    const bytes = 'raw' in request ? request.raw : bytesOf(host, request)
    const chunks: Buffer[] = []
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(bytes))
    const done = () => {
      socket.destroy()
      resolve(parsed(Buffer.concat(chunks).toString('utf8')))
    }
    socket.setTimeout(timeoutMs, () => reject(new Error(`no answer in ${timeoutMs} ms`)))
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      const soFar = parsed(Buffer.concat(chunks).toString('utf8'))
      if (soFar.status === 100) return
      const length = Number(soFar.headers['content-length'] ?? Number.NaN)
      const at = soFar.text.indexOf('\r\n\r\n')
      if (at > 0 && Buffer.byteLength(soFar.text.slice(at + 4)) >= length) done()
    })
    socket.on('end', done)
    // An answer may be followed by a reset when the server does not read the rest.
    socket.on('error', done)
  })
