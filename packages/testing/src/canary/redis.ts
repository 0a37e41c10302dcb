import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { eventually } from '../eventually.ts'
import { tokensIn } from './search.ts'

const encode = (...words: string[]): string =>
  `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`

const open = async (url: string) => {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  await once(socket, 'connect')
  return socket
}

/** Every key and all that is in it, whatever its type; a type that is not known here is an error. */
const READ_ALL = `
  local told, cursor = {}, '0'
  repeat
    local page = redis.call('scan', cursor, 'count', 1000)
    cursor = page[1]
    for _, key in ipairs(page[2]) do
      local read = {
        string = {'get', key}, hash = {'hgetall', key}, list = {'lrange', key, 0, -1}, set = {'smembers', key},
        zset = {'zrange', key, 0, -1, 'withscores'}, stream = {'xrange', key, '-', '+'}
      }
      told[#told + 1] = {key, redis.call(unpack(read[redis.call('type', key).ok]))}
    end
  until cursor == '0'
  return told`

const readAll = async (url: string): Promise<string> => {
  const socket = await open(url)
  const database = new URL(url).pathname.slice(1) || '0'
  socket.write(encode('SELECT', database) + encode('EVAL', READ_ALL, '0') + encode('QUIT'))
  const told = await text(socket)
  if (/^-/m.test(told)) throw new Error(told.slice(0, 500))
  return told
}

/** Listens to every command that reaches a Redis, so that what is deleted at once is seen as well. */
export const watchRedis = async (url: string) => {
  const socket = await open(url)
  let heard = ''
  socket.setEncoding('latin1').on('data', (piece: string) => (heard += piece))
  socket.write('MONITOR\r\n')
  await eventually(() => {
    if (!heard.startsWith('+OK')) throw new Error('MONITOR is not answered')
  })
  return {
    /** Which of these were in a command, or are in any key. */
    tokens: async (tokens: readonly string[]): Promise<string[]> => {
      const stored = await readAll(url)
      return [
        ...tokensIn(stored, tokens).map((token) => `${token} in Redis`),
        ...tokensIn(heard, tokens).map((token) => `${token} in a command to Redis`),
      ]
    },
    [Symbol.dispose]: () => void socket.destroy(),
  }
}
