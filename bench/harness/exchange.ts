import { connect, type Socket } from 'node:net'

/**
 * What is asked. In path, headers and body `{n}` becomes a number within the load's range, and `{next}` one that no
 * earlier request had, whichever process sent it.
 */
export type Request = { method: string; path: string; headers?: Record<string, string>; body?: string }

/** The status, and the lines above the body as they came. */
export type Answer = { status: number; head: string }

const HEAD_END = Buffer.from('\r\n\r\n')

export const open = (url: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const socket = connect({ port: Number(port), host: hostname, noDelay: true }, () => resolve(socket))
    socket.once('error', reject)
  })

/** Answers one at a time; listeners are set once for each connection. */
export const exchanger = (socket: Socket) => {
  let settle: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | null = null
  let answer: Answer | null = null
  let missing = 0
  let head: Buffer = Buffer.alloc(0)
  const finish = () => {
    const done = settle
    const result = answer
    settle = answer = null
    if (result !== null) done?.resolve(result)
  }
  socket.on('data', (chunk: Buffer) => {
    if (answer !== null) {
      missing -= chunk.length
      if (missing <= 0) finish()
      return
    }
    head = head.length === 0 ? chunk : Buffer.concat([head, chunk])
    const end = head.indexOf(HEAD_END)
    if (end === -1) return
    const text = head.toString('latin1', 0, end)
    const bytes = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
    answer = { status: Number(text.slice(9, 12)), head: text }
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

/** Far from those of other processes. */
let next = Math.floor(Math.random() * 2 ** 52)

/** A text with a number for the places that want one. */
const numbered = (text: string) => {
  const pieces = text.split(/(\{n\}|\{next\})/)
  if (pieces.length === 1) return () => text
  return (n: number, next: number) =>
    pieces.map((piece) => (piece === '{n}' ? n : piece === '{next}' ? next : piece)).join('')
}

export const textsOf = (url: string, { method, path, headers = {}, body }: Request) => {
  const all = { host: new URL(url).host, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  const headOf = numbered(`${method} ${path} HTTP/1.1\r\n${lines.join('')}content-length: `)
  const bodyOf = numbered(body ?? '')
  return (n: number): string => {
    next += 1
    const filled = bodyOf(n, next)
    return `${headOf(n, next)}${Buffer.byteLength(filled)}\r\n\r\n${filled}`
  }
}

export const percentile = (sorted: Float64Array, share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0
