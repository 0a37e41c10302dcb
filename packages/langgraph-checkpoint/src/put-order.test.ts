import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { emptyCheckpoint } from '@langchain/langgraph-checkpoint'
import { expect, onTestFinished, test, vi } from 'vitest'
import { KeelsonSaver } from './saver.ts'

/** A saver whose puts are answered when the test says so. */
const held = async () => {
  const arrived: string[] = []
  const responses: ServerResponse[] = []
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    arrived.push(((await json(request)) as { checkpoint_id: string }).checkpoint_id)
    responses.push(response)
  }
  const server = createServer((request, response) => void take(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const saver = new KeelsonSaver({ baseUrl, apiKey: 'key', retries: 0 })
  onTestFinished(() => {
    saver.close()
    server.close()
  })
  const put = (id: string, parent?: string, { ns = '', root = '' } = {}) => {
    const place = { thread_id: 't', checkpoint_ns: ns, ...(parent && { checkpoint_id: parent }) }
    const metadata = { source: 'loop', step: 0, parents: root ? { '': root } : {} } as const
    return saver.put({ configurable: place }, { ...emptyCheckpoint(), id }, metadata, {})
  }
  const answer = (status: number) =>
    responses
      .shift()
      ?.writeHead(status, { 'content-type': 'application/json' })
      .end(status < 300 ? 'null' : '{"code":"thread_deleted"}')
  const arrivals = (...ids: string[]) => vi.waitFor(() => expect(arrived.toSorted()).toEqual(ids))
  return { put, answer, arrivals }
}

test('a put is sent once that of its parent has been answered, and others are not kept waiting', async () => {
  const { put, answer, arrivals } = await held()
  const puts = [put('1'), put('2', '1'), put('3', 'elsewhere'), put('4', '1', { ns: 'sub' })]
  await arrivals('1', '3', '4')
  answer(200)
  answer(200)
  answer(200)
  await arrivals('1', '2', '3', '4')
  answer(200)
  expect(await Promise.all(puts)).toHaveLength(4)
})

test('the first put of a subgraph is sent once that of the checkpoint it came from has been answered, or refused', async () => {
  const { put, answer, arrivals } = await held()
  const root = put('1').catch(({ code }) => code)
  const child = put('2', undefined, { ns: 'sub', root: '1' }).catch(({ code }) => code)
  const other = put('3', undefined, { ns: 'other' })
  await arrivals('1', '3')
  for (const status of [409, 409]) answer(status)
  await other.catch(() => {})
  expect(await root).toBe('thread_deleted')
  await arrivals('1', '2', '3')
  answer(409)
  expect(await child).toBe('thread_deleted')
})

test('puts of one checkpoint, and those that name each other, are all sent', async () => {
  const { put, answer, arrivals } = await held()
  const puts = [put('1', '2'), put('2', '1'), put('1', '2')]
  await arrivals('1')
  answer(200)
  await arrivals('1', '2')
  answer(200)
  await arrivals('1', '1', '2')
  answer(200)
  expect(await Promise.all(puts)).toHaveLength(3)
})
