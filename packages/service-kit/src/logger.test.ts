import { describe, expect, test } from 'vitest'
import { ApiError } from './api-error.ts'
import { createLogger, type LogLevel } from './logger.ts'
import { Secret } from './secret.ts'

const CANARY = 'hunter2-canary'

const captured = (level: LogLevel = 'info', fields?: string[]) => {
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  return { lines, log: createLogger({ service: 'test', level, destination, ...(fields && { fields }) }) }
}

describe('the logger', () => {
  test('writes one JSON line with the allowed fields', () => {
    const { lines, log } = captured()
    log.info({ route: '/spans', status: 200, ms: 1.5, account_id: null }, 'request')
    expect(JSON.parse(lines[0]!)).toMatchObject({
      level: 30,
      service: 'test',
      message: 'request',
      route: '/spans',
      status: 200,
      account_id: null,
    })
    expect(JSON.parse(lines[0]!).time).toMatch(/^\d{4}-.*Z$/)
  })

  test('prints no secret, however it is handed over', () => {
    const { lines, log } = captured()
    const error = Object.assign(new Error(CANARY, { cause: new TypeError(`in ${CANARY}\n    at line`) }), {
      detail: CANARY,
      headers: { 'x-api-key': CANARY },
    })
    log.info({ payload: CANARY, authorization: CANARY }, 'a')
    log.info({ route: { nested: CANARY }, name: [CANARY], key_id: new Secret(CANARY) }, 'b')
    log.error({ err: error }, 'c')
    log.error({ err: CANARY }, 'd')
    log.error({ err: new ApiError('internal', CANARY) }, 'e')
    log.child({ body: CANARY, request_id: 'r' }).info({ env_vars: CANARY }, 'f')
    expect(lines).toHaveLength(6)
    expect(lines.join('')).not.toContain(CANARY)
  })

  test('tells of an error its name, code, frames and causes', () => {
    const { lines, log } = captured()
    const cause = Object.assign(new Error('connect'), { code: 'ECONNREFUSED', syscall: 'connect' })
    log.error({ err: new RangeError('x', { cause }) }, 'failed')
    const { err } = JSON.parse(lines[0]!) as { err: { name: string; stack: string; cause: object } }
    expect(err).toMatchObject({
      name: 'RangeError',
      cause: { name: 'Error', code: 'ECONNREFUSED', syscall: 'connect' },
    })
    expect(err.stack).toContain('logger.test.ts')
  })

  test('shows messages of errors for development only', () => {
    const { lines, log } = captured('debug')
    log.error({ err: new Error('what went wrong') }, 'failed')
    expect(lines[0]).toContain('what went wrong')
  })

  test('names a field that it left out, and takes more names that are declared safe', () => {
    const { lines, log } = captured('info', ['span_count'])
    log.info({ span_count: 3, body: CANARY }, 'x')
    expect(JSON.parse(lines[0]!)).toMatchObject({ span_count: 3, left_out: 'body' })
  })

  test('cuts long text and passes fields on to children', () => {
    const { lines, log } = captured()
    log.child({ request_id: 'r1' }).warn({ reason: 'x'.repeat(1000) }, 'long')
    expect(JSON.parse(lines[0]!)).toMatchObject({ request_id: 'r1', reason: `${'x'.repeat(300)}…` })
  })

  test('writes nothing below its level', () => {
    const { lines, log } = captured('warn')
    log.info('x')
    log.debug({ route: '/' }, 'x')
    expect(lines).toEqual([])
  })
})
