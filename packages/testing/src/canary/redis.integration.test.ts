import { once } from 'node:events'
import { connect } from 'node:net'
import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { testRedis } from '../test-redis.ts'
import { watchRedis } from './redis.ts'

const url = testRedis()

/** Sends inline commands to the database of a URL. */
const send = async (...commands: string[]): Promise<void> => {
  const { hostname, port, pathname } = new URL(url!)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.write([`SELECT ${pathname.slice(1) || 0}`, ...commands, 'QUIT', ''].join('\r\n'))
  await once(socket.resume(), 'close')
}

describe.skipIf(url === null)('a token in Redis', () => {
  test.each([
    ['string', 'SET k TOKEN'],
    ['hash', 'HSET k field TOKEN'],
    ['list', 'RPUSH k TOKEN'],
    ['set', 'SADD k TOKEN'],
    ['sorted set', 'ZADD k 1 TOKEN'],
    ['stream', 'XADD k * field TOKEN'],
  ])('is found in a %s, and when it was there only for a moment', async (_, command) => {
    const token = `canary${randomBytes(15).toString('hex')}`
    using redis = await watchRedis(url!)
    expect(await redis.tokens([token])).toEqual([])
    await send('DEL k', command.replace('TOKEN', token))
    expect(await redis.tokens([token])).toEqual([`${token} in Redis`, `${token} in a command to Redis`])
    await send('DEL k')
    expect(await redis.tokens([token])).toEqual([`${token} in a command to Redis`])
  })
})
