import { connect } from 'node:net'
import { join } from 'node:path'
import { freePort, onPath } from '@keelson/local-stack'
import { startVictim } from './process.ts'

/** Sends one command on a connection of its own and resolves with the answer. */
const ask = (port: number, command: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port }, () => socket.write(`${command}\r\n`))
    socket.setTimeout(2000, () => socket.destroy(new Error('Redis does not answer')))
    socket.once('data', (answer) => {
      socket.destroy()
      resolve(answer.toString())
    })
    socket.once('error', reject)
  })

/** `undefined` where this machine has none. */
export const redisProgram = () => onPath('redis-server', 'valkey-server')

/** A Redis without persistence: whoever kills it has lost all it held. @throws when this machine has none */
export const startRedisVictim = async (directory: string) => {
  const program = redisProgram()
  if (program === undefined) throw new Error('There is no redis-server on the PATH')
  const port = await freePort()
  const settings = {
    port,
    bind: '127.0.0.1',
    dir: directory,
    save: '',
    appendonly: 'no',
    'maxmemory-policy': 'noeviction',
  }
  const victim = await startVictim({
    name: 'redis',
    command: [program, ...Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])],
    env: process.env,
    log: join(directory, 'redis.log'),
    isReady: async () => (await ask(port, 'PING')).startsWith('+PONG'),
    onCrash: () => {},
  })
  return {
    port,
    victim,
    /** It stays up and has forgotten everything. */
    empty: () => ask(port, 'FLUSHALL').catch(() => ''),
  }
}
