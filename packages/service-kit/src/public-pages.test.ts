import { describe, expect, test } from 'vitest'
import { send, testService } from './test-service.ts'

const operation = (operationId: string, schema: string) => ({
  operationId,
  responses: { 200: { content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } } } },
})
const document = {
  openapi: '3.1.0',
  info: { title: 'Test', version: '0.1.0' },
  paths: {
    '/notes': { post: operation('createNote', 'Note'), put: operation('replaceNotes', 'Gone') },
    '/elsewhere': { parameters: [], get: operation('notHere', 'Gone') },
  },
  components: {
    schemas: {
      Note: { properties: { part: { $ref: '#/components/schemas/Part' } } },
      Part: { type: 'string' },
      Gone: { type: 'string' },
    },
    securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
  },
}
const pages = [
  '/healthz',
  '/readyz',
  '/openapi.json',
  '/docs',
  '/docs/start.js',
  '/docs/swagger-ui.css',
  '/docs/swagger-ui-bundle.js',
]

describe('the public pages', () => {
  const service = testService({ document: async () => document })

  test.each(pages)('%s needs no key', async (page) => {
    expect((await send(service, page, { key: null })).status).toBe(200)
  })

  test('the document has the mounted operations and what they refer to', async () => {
    const { json } = await send(service, '/openapi.json')
    expect(json).toEqual({
      ...document,
      paths: { '/notes': { post: document.paths['/notes'].post } },
      components: {
        schemas: { Note: document.components.schemas.Note, Part: { type: 'string' } },
        securitySchemes: document.components.securitySchemes,
      },
    })
  })

  test('the document is served as it was written when everything is mounted', async () => {
    const whole = {
      ...document,
      paths: { '/notes': { post: document.paths['/notes'].post }, '/raw': { get: operation('raw', 'Gone') } },
    }
    const complete = testService({ document: async () => whole })
    complete.raw('get', '/raw', () => ({ status: 200, body: 'x' }), { operationId: 'raw' })
    expect((await send(complete, '/openapi.json')).text).toBe(`${JSON.stringify(whole, null, 2)}\n`)
  })

  test('a limit of bodies that an operator set is in force and in the document', async () => {
    const limited = testService({ document: async () => document, limits: { bodyBytes: { createNote: 2048 } } })
    const sent = (bytes: number) => send(limited, '/notes', { body: `{"text":"${'x'.repeat(bytes)}"}` })
    expect([(await sent(2000)).status, (await sent(2100)).status]).toEqual([200, 413])
    const { json } = await send(limited, '/openapi.json')
    expect(json).toMatchObject({ paths: { '/notes': { post: { 'x-body-limit-bytes': 2048 } } } })
  })

  test('the reference loads from its own origin alone', async () => {
    const { headers, text } = await send(service, '/docs')
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'; script-src 'self';/)
    expect(text).not.toMatch(/https?:|<script>|<style|onload/)
    expect((await send(service, '/docs/swagger-ui-bundle.js')).headers.get('content-type')).toBe('text/javascript')
  })

  test.each(['/docs/package.json', '/docs/..%2Fpackage.json', '/docs/', '/docs/swagger-ui.css.map'])(
    '%s is nothing',
    async (page) => {
      expect((await send(service, page)).status).toBe(404)
    },
  )
})

describe('readiness', () => {
  test('is lost while a dependency fails or does not answer, and tells which', async () => {
    let isUp = false
    const service = testService({
      readiness: {
        database: () => (isUp ? Promise.resolve() : Promise.reject(new Error('postgres://u:hunter2@h'))),
        queue: async () => {},
      },
    })
    const down = await send(service, '/readyz')
    expect([down.status, down.headers.get('retry-after'), down.json]).toEqual([
      503,
      '1',
      { status: 'not_ready', checks: { database: 'failed', queue: 'ok' } },
    ])
    expect(JSON.stringify(service.lines)).not.toContain('hunter2')
    isUp = true
    expect(await send(service, '/readyz')).toMatchObject({ status: 200, json: { status: 'ready' } })
  })

  test('does not wait for a check for ever', async () => {
    const service = testService({ readiness: { database: () => new Promise(() => {}) }, readinessTimeoutMs: 20 })
    expect((await send(service, '/readyz')).status).toBe(503)
  })

  test('probes that come together share one check', async () => {
    let checks = 0
    const service = testService({ readiness: { database: async () => void checks++ } })
    await Promise.all([send(service, '/readyz'), send(service, '/readyz'), send(service, '/readyz')])
    expect(checks).toBe(1)
  })

  test('is lost for good when draining, while health and operations go on', async () => {
    const service = testService()
    service.drain()
    expect((await send(service, '/readyz')).status).toBe(503)
    expect((await send(service, '/healthz')).status).toBe(200)
    expect((await send(service, '/notes')).status).toBe(200)
  })
})
