import { connect } from 'node:net'

/**
 * What is asked. In path, headers and body `{n}` becomes a number within the load's range, and `{next}` one that no
 * earlier request had, whichever process sent it.
 */
export type Request = { method: string; path: string; headers?: Record<string, string>; body?: string }

/** The status, and the lines above the body as they came. */
export type Answer = { status: number; head: string }

/** Asks one request at a time. */
export type Connection = {
  ask: (request: string) => Promise<Answer>
  onClose: (act: () => void) => void
  close: () => void
}

const HEAD_END = Buffer.from('\r\n\r\n')

/** What arrives is looked at before anything else arrives, on whichever connection. */
const arrived = Buffer.allocUnsafeSlow(65_536)

/** Tells each answer once all of it has arrived. */
const answerReader = (onAnswer: (answer: Answer) => void) => {
  let answer: Answer | null = null
  let missing = 0
  let begun = Buffer.alloc(0)

  const readHead = (bytes: Buffer): void => {
    const end = bytes.indexOf(HEAD_END)
    if (end === -1) {
      begun = Buffer.from(bytes)
      return
    }
    begun = Buffer.alloc(0)
    const head = bytes.toString('latin1', 0, end)
    answer = { status: Number(head.slice(9, 12)), head }
    missing = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0) - (bytes.length - end - HEAD_END.length)
  }

  return (length: number): void => {
    if (answer !== null) missing -= length
    else
      readHead(begun.length === 0 ? arrived.subarray(0, length) : Buffer.concat([begun, arrived.subarray(0, length)]))
    if (answer === null || missing > 0) return
    const whole = answer
    answer = null
    onAnswer(whole)
  }
}

export const open = (url: string): Promise<Connection> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    let asked: PromiseWithResolvers<Answer> | null = null
    const read = answerReader((answer) => asked?.resolve(answer))
    // Into one place for all, without a stream: what the load costs is not there for the service.
    const callback = (length: number): boolean => {
      read(length)
      return true
    }
    const closed = () => new Error('the connection was closed')
    const onread = { buffer: arrived, callback }
    const socket = connect({ port: Number(port), host: hostname, noDelay: true, onread }, () =>
      resolve({
        ask: (request) => {
          if (socket.destroyed) return Promise.reject(closed())
          asked = Promise.withResolvers<Answer>()
          socket.write(request)
          return asked.promise
        },
        onClose: (act) => void socket.once('close', act),
        close: () => void socket.destroy(),
      }),
    )
    socket.on('error', reject).on('close', () => asked?.reject(closed()))
  })

/** Far from those of other processes. */
let next = Math.floor(Math.random() * 2 ** 52)

/** A text with a number for the places that want one. */
const numbered = (text: string) => {
  const [first = '', ...pieces] = text.split(/(\{n\}|\{next\})/)
  return (n: number, next: number): string => {
    let filled = first
    for (const piece of pieces) filled += piece === '{n}' ? n : piece === '{next}' ? next : piece
    return filled
  }
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
