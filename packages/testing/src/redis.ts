import { mkdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, keepProcess, onPath } from '@keelson/local-stack'
import { eventually } from './eventually.ts'

const DATABASES = 1024

export type TestRedisServer = AsyncDisposable & { url: string; directory: string; port: number }

const ping = (port: number) =>
  new Promise<void>((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port }, () => socket.write('PING\r\n'))
    socket.once('data', (answer) => {
      socket.destroy()
      if (answer.toString().startsWith('+PONG')) resolve()
      else reject(new Error(`Redis answers ${answer.toString()}`))
    })
    socket.once('error', reject)
  })

/**
 * Starts a redis-server (or valkey-server) of its own on 127.0.0.1, without persistence, in a temporary directory.
 *
 * @param port any free one when absent; pass an earlier server's port to play a restart
 * @returns null when the machine has neither program on its PATH
 */
export const startRedis = async (port?: number): Promise<TestRedisServer | null> => {
  const binary = onPath('redis-server', 'valkey-server')
  if (binary === undefined) return null
  const directory = await mkdtemp(join(tmpdir(), 'keelson-redis-'))
  const bound = port ?? (await freePort())
  const args = ['--port', String(bound), '--bind', '127.0.0.1', '--databases', String(DATABASES), '--dir', directory]
  args.push(
    '--save',
    '',
    '--appendonly',
    'no',
    '--maxmemory-policy',
    'noeviction',
    '--logfile',
    join(directory, 'redis.log'),
  )
  const server = keepProcess([binary, ...args], { env: process.env, stopSignal: 'TERM', output: 'pipe' })
  await eventually(() => ping(bound))
  return {
    url: `redis://127.0.0.1:${bound}`,
    directory,
    port: bound,
    [Symbol.asyncDispose]: async () => {
      await server.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** A database number of the shared server that no other test file of this run was given. */
export const claimRedisDatabase = (directory: string): number => {
  for (let database = 1; database < DATABASES; database += 1) {
    try {
      mkdirSync(join(directory, `claimed-${database}`))
      return database
    } catch {
      // Another test file has it.
    }
  }
  throw new Error('every database of the test Redis is taken')
}
