import { expect, test } from 'vitest'
import { constraintOf, isBlocked, isRejectedValue, isTransient, sqlStateOf } from './errors.ts'

const raised = (code: string, constraint_name?: string) => Object.assign(new Error('raised'), { code, constraint_name })

const TRANSIENT = [
  '08006',
  '53300',
  '57P01',
  '57P03',
  '40001',
  '40P01',
  '55P03',
  '57014',
  '25P03',
  '25006',
  'CONNECTION_CLOSED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
]
const LASTING = ['23505', '22021', '42P01', '42501', '25P02', '54000', 'UNSAFE_TRANSACTION', 'ERR_INVALID_ARG_TYPE']

test.each(TRANSIENT)('%s may succeed later and is transient, also under a wrapper', (code) => {
  expect(isTransient(raised(code))).toBe(true)
  expect(isTransient(new Error('query failed', { cause: raised(code) }))).toBe(true)
})

test.each(LASTING)('%s would fail again and is not transient', (code) => {
  expect(isTransient(raised(code))).toBe(false)
})

test('what is no error of a database is not transient', () => {
  for (const thrown of [null, undefined, 'text', new Error('no code'), { code: 8006 }]) {
    expect(isTransient(thrown)).toBe(false)
  }
})

test('rows that others hold are told from every other fault that may pass', () => {
  expect(TRANSIENT.filter((code) => isBlocked(raised(code)))).toEqual(['40P01', '55P03'])
  expect(isBlocked(new Error('query failed', { cause: raised('55P03') }))).toBe(true)
})

test('a violated constraint is known by its name, and only a violated one', () => {
  expect(constraintOf(raised('23505', 'credentials_name_key'))).toBe('credentials_name_key')
  expect(constraintOf(new Error('query failed', { cause: raised('23503', 'fkey') }))).toBe('fkey')
  expect(constraintOf(raised('42704', 'credentials_name_key'))).toBeNull()
  expect(constraintOf(new Error('other'))).toBeNull()
})

test('a value Postgres cannot hold is told from a failure of ours', () => {
  expect(['22021', '22P05', '22003', '54000'].every((code) => isRejectedValue(raised(code)))).toBe(true)
  expect(isRejectedValue(raised('23505'))).toBe(false)
})

test('a SQLSTATE is not confused with an error code of the driver or of Node', () => {
  expect(sqlStateOf(raised('23505'))).toBe('23505')
  expect(sqlStateOf(raised('EPIPE'))).toBeNull()
  expect(sqlStateOf(raised('ECONNREFUSED'))).toBeNull()
})
