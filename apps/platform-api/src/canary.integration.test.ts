import document from '@keelson/contracts/openapi/platform-api.json' with { type: 'json' }
import { platformRoutes } from '@keelson/contracts/platform'
import { connect } from '@keelson/database'
import { createLogger, createMetrics } from '@keelson/service-kit'
import { canary, freePort, operationsOf, platformFixtures } from '@keelson/testing'
import { afterAll, expect, test } from 'vitest'
import { createApp } from './app.ts'
import { testApp } from './test-app.fixture.ts'

const lines: string[] = []
const destination = { write: (line: string) => void lines.push(line) }
const log = createLogger({ service: 'platform-api', level: 'debug', destination })
const app = await testApp({ log })
const away = connect({ url: `postgres://nobody:x@127.0.0.1:${await freePort()}/none`, applicationName: 'away' })
afterAll(() => Promise.all([app[Symbol.asyncDispose](), away[Symbol.asyncDispose]()]))
const down = createApp({ ...app, metrics: createMetrics(), db: away })

const watched = await canary({
  service: 'platform-api',
  routes: platformRoutes,
  fixtures: platformFixtures,
  db: app.db,
  fetch: app.service.fetch,
  fetchDown: down.fetch,
  lines,
  metrics: () => app.metrics.registry.metrics(),
})

test('what a refused request held is found nowhere, whatever the operation and the fault', async () => {
  for (const operationId of operationsOf(document)) await watched.drive(operationId)
  expect(lines.length).toBeGreaterThan(50)
  expect(await watched.found()).toEqual([])
})

test('a secret that was kept, changed, damaged and refused is found nowhere but in the answer of a reveal', async () => {
  const client = await app.client()
  watched.watch(client.token)
  const secret = watched.token('first')
  const { id: credential_id } = await client.createCredential({ body: { name: 'kept', payload: secret, type: 'key' } })
  const params = { credential_id }
  expect(await client.getCredentialSecret({ params })).toMatchObject({ result: secret })
  const path = `/v5/credentials/${credential_id}`
  const { status: changed } = await client.raw(
    { method: 'patch', path },
    { body: { payload: watched.token('second') } },
  )
  const taken = { name: 'kept', payload: watched.token('taken'), type: 'key' }
  const refused = [
    await client.raw({ method: 'post', path: '/v5/credentials' }, { body: taken }),
    await client.raw({ method: 'post', path: '/v5/credentials' }, { body: { ...taken, name: 'new', type: 'json' } }),
    await client.raw(
      { method: 'post', path: '/v5/credentials' },
      { body: { ...taken, payload: `${taken.payload}\0` } },
    ),
    await client.raw({ method: 'patch', path }, { body: { payload: watched.token('json'), type: 'json' } }),
  ]
  await app.db.sql`
    update platform.credential_versions set sealed = set_byte(sealed, 39, 255 - get_byte(sealed, 39)) where credential_id = ${credential_id}`
  refused.push(await client.raw({ method: 'post', path: `${path}/secret` }))
  refused.push(await client.raw({ method: 'patch', path }, { body: { type: 'json' } }))
  expect(changed).toBe(200)
  expect(refused.map(({ status }) => status)).toEqual([409, 422, 422, 422, 500, 500])
  for (const { text } of refused) expect(text).not.toContain('canary')
  expect(await watched.found()).toEqual([])
})
