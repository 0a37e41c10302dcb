import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** One answer, cut into its parts as far as they have come. */
export const parseAnswer = (text: string) => {
  const [head = '', body = ''] = text.split('\r\n\r\n', 2)
  const [start = '', ...lines] = head.split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const json =
    headers['content-type']?.includes('json') && body !== '' ? (JSON.parse(body) as Record<string, unknown>) : null
  return { status: Number(start.split(' ')[1]), headers, body, json }
}

export const openSocket = async (url: string): Promise<Socket> => {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

/** Everything the server sends until it closes the connection. */
export const readAll = async (socket: Socket): Promise<string> => {
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  if (!socket.destroyed) await once(socket, 'close')
  return text
}

/** Sends bytes as they are, and reads until the server closes. */
export const exchange = async (url: string, bytes: string) => {
  const socket = await openSocket(url)
  socket.write(bytes)
  return parseAnswer(await readAll(socket))
}
