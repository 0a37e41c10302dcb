import { randomBytes } from 'node:crypto'
import { connect } from '@keelson/database'
import { platformRoutes } from '@keelson/contracts/platform'
import { createLogger, createMetrics } from '@keelson/service-kit'
import { freePort } from '@keelson/testing'
import { afterAll, expect, test } from 'vitest'
import { createApp } from '../app.ts'
import { testApp } from '../test-app.fixture.ts'

const lines: string[] = []
const log = createLogger({
  service: 'platform-api',
  level: 'debug',
  destination: { write: (line) => void lines.push(line) },
})
const app = await testApp({ log })
afterAll(() => app[Symbol.asyncDispose]())
const client = await app.client()

const tokens: string[] = []
const token = (kind: string) => {
  const made = `canary${kind}${randomBytes(12).toString('hex')}`
  tokens.push(made)
  return made
}

type Answer = { status: number; text: string }
const answers: Answer[] = []
const send = async (
  method: 'get' | 'post' | 'patch' | 'delete',
  path: string,
  text?: string,
  service = app.service,
) => {
  const headers = { ...client.headers, ...(text !== undefined && { 'content-type': 'application/json' }) }
  const init = { method: method.toUpperCase(), headers, ...(text !== undefined && { body: text }) }
  const response = await service.fetch(new Request(`http://test${path}`, init))
  const answer = { status: response.status, text: await response.text() }
  answers.push(answer)
  return answer
}

const credential = (payload: string, fields = {}) =>
  JSON.stringify({ name: `n ${tokens.length}`, payload, type: 'key', ...fields })

/** Secrets through every way a request can go wrong with one in it. */
const driveFailures = async (id: string) => {
  const path = `/v5/credentials/${id}`
  const statuses = [
    await send('post', '/v5/credentials', credential(token('json'), { type: 'json' })),
    await send('post', '/v5/credentials', credential(token('type'), { type: token('badtype') })),
    await send('post', '/v5/credentials', `{"name":"x","type":"key","payload":"${token('malformed')}"`),
    await send('post', '/v5/credentials', credential(token('long').repeat(2_000))),
    await send('post', '/v5/credentials', credential(token('huge').repeat(40_000))),
    await send('post', '/v5/credentials', credential(token('nul') + String.raw`\u0000`.slice(1))),
    await send(
      'post',
      '/v5/credentials',
      `{"${token('key')}":{"payload":"${token('nested')}"},"name":"x","type":"key","payload":1}`,
    ),
    await send(
      'post',
      '/v5/credentials',
      `{"name":"x","type":"key","payload":"${token('twice')}","payload":"${token('twice')}"}`,
    ),
    await send('patch', path, JSON.stringify({ payload: token('patch'), type: 'json' })),
    await send('patch', '/v5/credentials/none', JSON.stringify({ payload: token('nowhere') })),
    await send('put' as never, path, JSON.stringify({ payload: token('method') })),
    await send('post', `/v5/credentials/${token('id')}/secret`),
    await send('post', `/v5/credentials/name/${token('name')}/secret`),
    await send('get', `/v5/credentials?sort_by=${token('query')}`),
    await send(
      'post',
      '/v5/models',
      JSON.stringify({ name: token('model'), model_vendor: token('vendor'), payload: token('field') }),
    ),
  ]
  for (const { status } of statuses.slice(0, 5)) expect(status).toBeGreaterThanOrEqual(400)
}

const textColumns = () => app.db.sql<{ table: string; column: string }[]>`
  select format('%I.%I', table_schema, table_name) as table, column_name as column from information_schema.columns
  where table_schema not in ('pg_catalog', 'information_schema')
    and data_type in ('text', 'character varying', 'json', 'jsonb', 'ARRAY', 'bytea')`

const foundInDatabase = async (): Promise<string[]> => {
  const found: string[] = []
  for (const { table, column } of await textColumns()) {
    const rows = await app.db.sql<{ text: string }[]>`
      select convert_from(decode(replace(encode(convert_to(${app.db.sql(column)}::text, 'utf8'), 'hex'), '', ''), 'hex'), 'utf8') as text
      from ${app.db.sql(table.replaceAll('"', ''))} where ${app.db.sql(column)}::text like '%canary%'`.catch(() => [])
    for (const { text } of rows) if (tokens.some((one) => text.includes(one))) found.push(`${table}.${column}`)
    const hex = await app.db.sql`
      select 1 from ${app.db.sql(table.replaceAll('"', ''))}
      where ${app.db.sql(column)}::text like ${`%${Buffer.from('canary').toString('hex')}%`}`.catch(() => [])
    if (hex.length > 0) found.push(`${table}.${column} in hex`)
  }
  return found
}

test('a secret that went through every route and every failure is found nowhere but in the answer of a reveal', async () => {
  const secret = token('secret')
  const created = await send('post', '/v5/credentials', credential(secret))
  const { id } = JSON.parse(created.text) as { id: string }
  const path = `/v5/credentials/${id}`
  await send('get', path)
  await send('get', '/v5/credentials')
  await send('patch', path, JSON.stringify({ payload: token('second') }))
  await driveFailures(id)

  const port = await freePort()
  await using db = connect({ url: `postgres://nobody:x@127.0.0.1:${port}/none`, applicationName: 'down' })
  const down = createApp({ ...app, metrics: createMetrics(), db })
  expect(await send('post', '/v5/credentials', credential(token('down')), down)).toMatchObject({ status: 503 })

  await app.db
    .sql`update platform.credential_versions set sealed = overlay(sealed placing '\\x00' from 40) where credential_id = ${id}`
  expect(await send('post', `${path}/secret`)).toMatchObject({ status: 500 })
  await send('patch', path, JSON.stringify({ type: 'json' }))

  expect(platformRoutes.length).toBeGreaterThan(0)
  for (const one of tokens) {
    expect(lines.filter((line) => line.includes(one))).toEqual([])
    expect(answers.filter(({ text }) => text.includes(one))).toEqual([])
    expect(await app.metrics.registry.metrics()).not.toContain(one)
  }
  expect(lines.length).toBeGreaterThan(15)
  expect(await foundInDatabase()).toEqual([])
})
