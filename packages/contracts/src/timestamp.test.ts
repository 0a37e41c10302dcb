import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { normaliseTimestamp, Timestamp, UtcTimestamp } from './timestamp.ts'

const MINUTE_MS = 60_000
const FIRST_MS = Date.parse('0001-01-03T00:00:00Z')
const LAST_MS = Date.parse('9999-12-29T00:00:00Z')

const offset = fc.tuple(fc.constantFrom('+', '-'), fc.integer({ min: 0, max: 15 }), fc.integer({ min: 0, max: 59 }))
const twoDigits = (value: number) => String(value).padStart(2, '0')

/** An instant, to the second, with a fraction and an offset to write it with. */
const written = fc.record({
  seconds: fc.integer({ min: FIRST_MS / 1000, max: LAST_MS / 1000 }),
  fraction: fc.stringMatching(/^\d{0,9}$/),
  offset,
  separator: fc.constantFrom('T', 't', ' '),
  colon: fc.constantFrom(':', ''),
})

describe('a timestamp in a request', () => {
  test('is the same instant in UTC, to the microsecond, whatever it was written like', () => {
    fc.assert(
      fc.property(written, ({ seconds, fraction, offset: [sign, hours, minutes], separator, colon }) => {
        const shiftMs = (hours * 60 + minutes) * MINUTE_MS * (sign === '-' ? -1 : 1)
        const local = new Date(seconds * 1000 + shiftMs).toISOString().slice(0, 19).replace('T', separator)
        const dot = fraction === '' ? '' : `.${fraction}`
        const text = `${local}${dot}${sign}${twoDigits(hours)}${colon}${twoDigits(minutes)}`

        const micros =
          Math.trunc(Number(`0.${fraction || 0}`) * 1e7 + 0.5) === 0 ? '000000' : fraction.padEnd(6, '0').slice(0, 6)
        const utc = new Date(seconds * 1000).toISOString().slice(0, 19)
        expect(normaliseTimestamp(text)).toBe(`${utc}${Number(micros) === 0 ? '' : `.${micros}`}Z`)
      }),
    )
  })

  test('is left as it is once normalised, and is what responses hold', () => {
    fc.assert(
      fc.property(written, ({ seconds, fraction }) => {
        const once = normaliseTimestamp(`${new Date(seconds * 1000).toISOString().slice(0, 19)}.${fraction || '0'}Z`)
        expect(normaliseTimestamp(once ?? '')).toBe(once)
        expect(UtcTimestamp.parse(once)).toBe(once)
      }),
    )
  })

  test.each([
    ['2026-11-21', '2026-11-21T00:00:00Z'],
    ['2026-11-21T09:30', '2026-11-21T09:30:00Z'],
    ['2026-11-21T09:30:15', '2026-11-21T09:30:15Z'],
    ['2026-11-21T09:30:15.123456789', '2026-11-21T09:30:15.123456Z'],
    ['2026-11-21T09:30:15.000000999Z', '2026-11-21T09:30:15Z'],
    ['2024-01-01T10:00:05.123456+00:00', '2024-01-01T10:00:05.123456Z'],
    ['2026-11-21T00:30:00+05:30', '2026-11-20T19:00:00Z'],
    ['2026-12-31T23:59:59.5-01', '2027-01-01T00:59:59.500000Z'],
    ['2024-02-29', '2024-02-29T00:00:00Z'],
    ['0001-01-01', '0001-01-01T00:00:00Z'],
    ['9999-12-31T23:59:59.999999Z', '9999-12-31T23:59:59.999999Z'],
  ])('%s is %s', (text, normalised) => {
    expect(Timestamp.parse(text)).toBe(normalised)
  })

  test.each([
    '',
    'yesterday',
    '1763717400',
    '2026-11',
    '2026-02-29',
    '2026-02-30',
    '2026-13-01',
    '2026-11-21T24:00:00Z',
    '2026-11-21T09:60:00Z',
    '2026-11-21T09:30:60Z',
    '2026-11-21T09:30:15.1234567890Z',
    '2026-11-21T09:30:15.Z',
    '2026-11-21T09:30:15+16:00',
    '2026-11-21T09:30:15+01:60',
    '2026-11-21 ',
    ' 2026-11-21',
    '2026-11-21T09:30:15Z\n',
    '0000-12-31',
    '0001-01-01T00:00:00+01:00',
    '9999-12-31T23:59:59-01:00',
    '+12026-11-21',
  ])('%j is refused', (text) => {
    expect(Timestamp.safeParse(text).success).toBe(false)
  })
})
