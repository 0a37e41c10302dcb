import { Secret } from './secret.ts'

type Parsed<T> = { value: T } | { problem: string }

/** One environment variable: how to read it, what to use without it, and what it is for. */
export type Setting<T> = {
  /** What the value must be, to complete "NAME must be ...". */
  expected: string
  description: string
  required: boolean
  fallback: T | undefined
  parse: (text: string) => Parsed<T>
}

type Required<T> = { description: string; default?: T }
type Optional = { description: string; default: null }
type Protocols = { protocols?: readonly string[] }
type Range = { min?: number; max?: number }

/** With `default: null` the setting may be absent and reads as `null`; without a default it is required. */
type Maker<T> = { (options: Optional): Setting<T | null>; (options: Required<T>): Setting<T> }

const maker = <T>(expected: string, parse: (text: string) => T | undefined): Maker<T> => {
  const make = (options: { description: string; default?: T | null }): Setting<T | null> => ({
    expected,
    description: options.description,
    required: options.default === undefined,
    fallback: options.default,
    parse: (text) => {
      const value = parse(text)
      return value === undefined ? { problem: expected } : { value }
    },
  })
  return make as Maker<T>
}

const WORDS = new Map([
  ...['true', '1', 'on', 'yes', 'enabled'].map((word) => [word, true] as const),
  ...['false', '0', 'off', 'no', 'disabled'].map((word) => [word, false] as const),
])

const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

const parseInteger = (text: string, min: number, max: number): number | undefined => {
  const value = /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  return value >= min && value <= max ? value : undefined
}

const parseDurationMs = (text: string): number | undefined => {
  const [, amount, unit = 'ms'] = /^(\d{1,9})(ms|s|m|h|d)?$/.exec(text) ?? []
  return amount === undefined ? undefined : Number(amount) * UNIT_MS[unit]!
}

const parseRetentionMs = (text: string): number | undefined => {
  const ms = /\d$/.test(text) ? undefined : parseDurationMs(text)
  return ms !== undefined && ms >= UNIT_MS['h']! && ms <= 36_500 * UNIT_MS['d']! ? ms : undefined
}

const parseUrl = (text: string, protocols: readonly string[] | undefined): string | undefined => {
  const url = URL.parse(text)
  return url && (protocols?.includes(url.protocol.slice(0, -1)) ?? true) ? text : undefined
}

/** The kinds of settings a service can declare for `loadConfig`. */
export const setting = {
  string: maker('text', (text) => text),
  /** With `protocols`, such as `['http', 'https']`, nothing else is accepted. */
  url: ((options: Required<string> & Protocols) => {
    const { protocols } = options
    const expected = protocols ? `a URL starting ${protocols.map((name) => `${name}://`).join(' or ')}` : 'a URL'
    return maker(expected, (text) => parseUrl(text, protocols))(options)
  }) as {
    (options: Optional & Protocols): Setting<string | null>
    (options: Required<string> & Protocols): Setting<string>
  },
  port: maker('a port, 0 to 65535', (text) => parseInteger(text, 0, 65_535)),
  /** From `min` (0) to `max`. */
  integer: ((options: Required<number> & Range) => {
    const { min = 0, max = Number.MAX_SAFE_INTEGER } = options
    const expected = options.max === undefined ? `an integer from ${min}` : `an integer, ${min} to ${max}`
    return maker(expected, (text) => parseInteger(text, min, max))(options)
  }) as {
    (options: Optional & Range): Setting<number | null>
    (options: Required<number> & Range): Setting<number>
  },
  flag: maker('`true` or `false`', (text) => WORDS.get(text.toLowerCase())),
  /** Read as milliseconds from `250ms`, `30s`, `5m`, `2h`, `1d` or a bare number of milliseconds. */
  durationMs: maker('a duration such as `30s`', parseDurationMs),
  /** A duration after which data is deleted, in milliseconds: with its unit, for a bare number is no number of days. */
  retentionMs: maker('a duration from `1h` to `36500d`, with its unit', parseRetentionMs),
  /** Never has a default; `default: null` makes it optional. */
  secret: maker('a secret', (text) => new Secret(text)) as {
    (options: Optional): Setting<Secret | null>
    (options: { description: string }): Setting<Secret>
  },
  oneOf: <const Value extends string>(values: readonly Value[], options: Required<NoInfer<Value>>): Setting<Value> =>
    maker(`one of ${values.join(', ')}`, (text) => values.find((value) => value === text))(options),
}
