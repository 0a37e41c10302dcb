import { expect, test } from 'vitest'
import { int8, utcTimestamp } from './parsers.ts'

test('a timestamp keeps its microseconds and has none or six digits', () => {
  expect(utcTimestamp('2026-11-21 09:30:00+00')).toBe('2026-11-21T09:30:00Z')
  expect(utcTimestamp('2026-11-21 09:30:00.5+00')).toBe('2026-11-21T09:30:00.500000Z')
  expect(utcTimestamp('2026-11-21 09:30:00.123456+00')).toBe('2026-11-21T09:30:00.123456Z')
})

test('a time no wire field can hold stays as Postgres wrote it', () => {
  for (const text of ['infinity', '-infinity', '0001-01-01 00:00:00+00 BC', '12026-01-01 00:00:00+00'])
    expect(utcTimestamp(text)).toBe(text)
})

test('an int8 is a number while that is exact, and never a wrong one', () => {
  expect(int8('9007199254740991')).toBe(9007199254740991)
  expect(int8('-9007199254740991')).toBe(-9007199254740991)
  expect(int8('9007199254740993')).toBe(9007199254740993n)
})
