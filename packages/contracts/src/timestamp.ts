import { z } from '@hono/zod-openapi'

const ISO_8601 =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:[Zz]|([+-])(\d\d)(?::?(\d\d))?)?)?$/

/** Of a time to the second, in a year of four digits. */
const LENGTH = 'YYYY-MM-DDTHH:MM:SS'.length
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

const isLeapYear = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)

const daysIn = (year: number, month: number): number => (month === 2 && isLeapYear(year) ? 29 : (DAYS[month - 1] ?? 0))

/** The same second in UTC; arithmetic on text is spared where nothing is to be shifted, which is nearly always. */
const shifted = (local: string, offsetMinutes: number): string =>
  offsetMinutes === 0 ? local : new Date(Date.parse(`${local}Z`) - offsetMinutes * 60_000).toISOString().slice(0, -5)

/**
 * Normalises an ISO 8601 time to UTC, `YYYY-MM-DDTHH:MM:SS[.ffffff]Z`: date-only and offset-less times are UTC, digits
 * beyond the microsecond are cut. Returns `null` for anything that is no instant of the years 0001 to 9999.
 */
export const normaliseTimestamp = (text: string): string | null => {
  const match = ISO_8601.exec(text)
  if (!match) return null
  const [
    ,
    year,
    month,
    day,
    hour = '00',
    minute = '00',
    second = '00',
    fraction = '',
    sign,
    offsetHours = '0',
    offsetMinutes = '0',
  ] = match
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null
  if (Number(offsetHours) > 15 || Number(offsetMinutes) > 59) return null
  if (Number(day) < 1 || Number(day) > daysIn(Number(year), Number(month))) return null
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * (sign === '-' ? -1 : 1)
  const utc = shifted(`${year}-${month}-${day}T${hour}:${minute}:${second}`, offset)
  if (utc.length !== LENGTH || utc.startsWith('0000')) return null
  const microseconds = fraction.slice(0, 6).padEnd(6, '0')
  return `${utc}${microseconds === '000000' ? '' : `.${microseconds}`}Z`
}

/** A time in a request: ISO 8601, normalised to UTC with at most six fraction digits. */
export const Timestamp = z
  .string()
  .transform((text, ctx) => {
    const normalised = normaliseTimestamp(text)
    if (normalised === null) ctx.addIssue({ code: 'custom', message: 'expected an ISO 8601 timestamp' })
    return normalised ?? z.NEVER
  })
  .openapi({ format: 'date-time', example: '2026-11-21T09:30:00.123456Z' })

/** A time in a response: UTC, `Z`, no fraction or six digits. */
export const UtcTimestamp = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z$/)
  .openapi({ format: 'date-time', example: '2026-11-21T09:30:00.123456Z' })
