import { FreeFormObject, FreeFormObjects, FreeFormValue, route } from '@keelson/contracts'
import { z } from 'zod'
import { ApiError, notFound } from './api-error.ts'
import { createLogger } from './logger.ts'
import { createMetrics } from './metrics.ts'
import { createService, type Service } from './service.ts'
import type { ServiceOptions } from './service-options.ts'

const Note = z.object({
  id: z.string(),
  text: z.string(),
  count: z.number().nullable(),
  data: FreeFormObject.nullable(),
})
const NoteRequest = z.object({
  text: z.string().min(1),
  count: z.number().int().nullish(),
  data: FreeFormObject.nullish(),
  input: FreeFormObjects.optional(),
  anything: FreeFormValue.optional(),
})

/** The operations of a small service that exists for the tests of this package. */
export const notes = {
  createNote: route('createNote', 'post', '/notes', {
    tag: 'Notes',
    summary: 'Create',
    scope: 'spans:write',
    body: NoteRequest,
    ok: Note,
    errors: ['span_exists'],
    bodyLimitBytes: 4096,
  }),
  getNote: route('getNote', 'get', '/notes/{note_id}', {
    tag: 'Notes',
    summary: 'Get',
    scope: 'spans:read',
    params: z.object({ note_id: z.string() }),
    ok: Note,
  }),
  listNotes: route('listNotes', 'get', '/notes', {
    tag: 'Notes',
    summary: 'List',
    scope: 'spans:read',
    ok: z.object({ limit: z.number(), name: z.string().nullable() }),
    query: z.object({
      limit: z
        .string()
        .regex(/^\d{1,4}$/)
        .default('50')
        .transform(Number),
      name: z.string().optional(),
    }),
  }),
  /** Mounted by the tests that decide how slow it is. */
  slowNote: route('slowNote', 'get', '/slow-note', {
    tag: 'Notes',
    summary: 'Slow',
    scope: 'spans:read',
    ok: z.string(),
  }),
  namedNote: route('namedNote', 'get', '/notes/latest', {
    tag: 'Notes',
    summary: 'Latest',
    scope: 'spans:read',
    ok: z.string(),
  }),
  deleteNote: route('deleteNote', 'delete', '/notes/{note_id}', {
    tag: 'Notes',
    summary: 'Delete',
    scope: 'spans:delete' as never,
    params: z.object({ note_id: z.string() }),
  }),
  failNote: route('failNote', 'post', '/notes/{note_id}/fail', {
    tag: 'Notes',
    summary: 'Fail',
    scope: null,
    params: z.object({ note_id: z.string() }),
    body: z.object({ message: z.string() }),
    ok: z.string(),
  }),
}

export const KEY = 'key-of-the-tests'
export const ACCOUNT = { account_id: 'acct_1', identity_id: 'user_1', identity_type: 'user', key_id: 'key_1' } as const

/** Every line that a service logs, for looking at. */
export const capturedLog = () => {
  const lines: Record<string, unknown>[] = []
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) }
  return { lines, log: createLogger({ service: 'test', level: 'info', destination }) }
}

export const testService = (options: Partial<ServiceOptions> = {}): Service & { lines: Record<string, unknown>[] } => {
  const { lines, log } = capturedLog()
  const service = createService({
    name: 'agent-api',
    document: async () => ({ paths: {} }),
    log,
    metrics: createMetrics(),
    readiness: {},
    authenticate: async (headers) => {
      if (headers.get('authorization') !== `Bearer ${KEY}`) throw new ApiError('unauthenticated')
      return { ...ACCOUNT, scopes: new Set(['spans:read', 'spans:write'] as const) }
    },
    ...options,
  })
  service.handle(notes.createNote, ({ body }) => {
    if (body.text === 'taken') throw new ApiError('span_exists', 'A note of this text exists')
    return { id: 'note_1', text: body.text, count: body.count ?? null, data: body.data ?? null }
  })
  service.handle(notes.getNote, ({ params }) =>
    params.note_id.startsWith('missing')
      ? notFound('note')
      : { id: params.note_id, text: 'text', count: 1, data: null },
  )
  service.handle(notes.namedNote, () => 'the latest')
  service.handle(notes.listNotes, ({ query }) => ({ limit: query.limit, name: query.name ?? null }))
  service.handle(notes.deleteNote, () => undefined)
  service.handle(notes.failNote, ({ body }) => {
    throw Object.assign(new Error(body.message), { code: body.message })
  })
  return Object.assign(service, { lines })
}

type Send = {
  method?: string
  headers?: Record<string, string>
  body?: string | Uint8Array<ArrayBuffer>
  key?: string | null
}

/** A request with the key of the tests and, with a body, the media type of JSON. */
export const request = (path: string, { method, headers, body, key = KEY }: Send = {}): Request =>
  new Request(`http://service.test${path}`, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  })

/** Sends a request in memory and reads the answer whole. */
export const send = async (service: Service, path: string, options?: Send) => {
  const response = await service.fetch(request(path, options))
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') ?? false
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: (isJson && text !== '' ? JSON.parse(text) : null) as Record<string, unknown>,
  }
}
