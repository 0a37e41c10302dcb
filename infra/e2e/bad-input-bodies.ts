import { randomUUID } from 'node:crypto'
import type { BadInput } from './bad-input-cases.ts'

type Target = {
  method: 'POST'
  path: string
  /** A good body with these members added, as text. */
  body: (members?: string) => string
  /** A good body with this text in place of its name. */
  named: (name: string) => string
  /** A free-form member. */
  freeForm: string
  limitBytes: number
}

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

const MALFORMED = { status: 400, code: 'malformed_json' }
const INVALID = { status: 422, code: 'invalid_request' }
const WRONG_TYPE = { status: 415, code: 'unsupported_media_type' }
const GOOD = { status: 200 }

const syntax = ({ method, path, body, named }: Target): BadInput[] => {
  const to = { method, path }
  const bytes = (text: string) => Buffer.from(text, 'latin1')
  return [
    { row: 1, name: 'a body cut short', ...to, body: '{"name":', ...MALFORMED },
    { row: 2, name: 'an empty body', ...to, body: '', ...MALFORMED },
    ...['null', '[]', '"x"', '1'].map((text) => ({
      row: 3,
      name: `${text} as the body`,
      ...to,
      body: text,
      ...INVALID,
    })),
    { row: 4, name: 'no media type', ...to, headers: { 'content-type': '' }, body: body(), ...WRONG_TYPE },
    ...['text/plain', 'multipart/form-data; boundary=x', 'application/json; charset=utf-16'].map((type) => ({
      row: type.endsWith('16') ? 7 : 5,
      name: type,
      ...to,
      headers: { 'content-type': type },
      body: body(),
      ...WRONG_TYPE,
    })),
    {
      row: 6,
      name: 'a media type in capitals',
      ...to,
      headers: { 'content-type': 'APPLICATION/JSON; charset=utf-8' },
      body: body(),
      ...GOOD,
    },
    { row: 10, name: 'a byte order mark', ...to, body: `\uFEFF${body()}`, ...MALFORMED },
    { row: 11, name: 'bytes that are no UTF-8', ...to, body: bytes(named('a\xff\xfe')), ...MALFORMED },
    { row: 12, name: 'overlong UTF-8', ...to, body: bytes(named('a\xc0\x80')), ...MALFORMED },
    { row: 12, name: 'surrogates as UTF-8', ...to, body: bytes(named('a\xed\xa0\x80')), ...MALFORMED },
    { row: 13, name: 'U+0000 in a name', ...to, body: named(String.raw`a\u0000`), ...INVALID },
    { row: 15, name: 'a lone surrogate in a name', ...to, body: named(String.raw`a\ud800`), ...INVALID },
    ...['NaN', 'Infinity', '-Infinity'].map((text) => ({
      row: 19,
      name: text,
      ...to,
      body: body(`"description": ${text}`),
      ...MALFORMED,
    })),
    { row: 25, name: 'a name given twice', ...to, body: body('"name": "second"'), ...MALFORMED },
    { row: 33, name: 'an unknown field', ...to, body: body('"unknown": true'), ...GOOD },
    { row: 34, name: 'a number for a text', ...to, body: named('').replace('"name": ""', '"name": 5'), ...INVALID },
    {
      row: 35,
      name: 'a list for a text',
      ...to,
      body: named('').replace('"name": ""', '"name": ["a", "b"]'),
      ...INVALID,
    },
    { row: 90, name: 'a compressed body', ...to, headers: { 'content-encoding': 'gzip' }, body: body(), ...WRONG_TYPE },
  ]
}

const freeForm = ({ method, path, body, freeForm: field, limitBytes }: Target): BadInput[] => {
  const holding = (row: number, name: string, text: string, expected: object): BadInput =>
    ({ row, name, method, path, body: body(`"${field}": ${text}`), ...expected }) as BadInput
  return [
    holding(14, 'U+0000 in free-form JSON', String.raw`{"a": "\u0000"}`, GOOD),
    holding(17, 'a lone surrogate in free-form JSON', String.raw`{"a": "\ud800"}`, GOOD),
    holding(22, 'an integer beyond 2^53', '{"a": 9007199254740993}', GOOD),
    holding(21, '1e400', '{"a": 1e400}', GOOD),
    holding(23, '-0, 1.0 and 1E2', '{"a": [-0, 1.0, 1E2]}', GOOD),
    holding(26, 'a nesting of 100', `{"a": ${nested(100)}}`, GOOD),
    holding(26, 'a nesting of 200', `{"a": ${nested(200)}}`, INVALID),
    holding(27, 'a nesting of 5,000', `{"a": ${nested(5_000)}}`, INVALID),
    holding(28, 'a nesting of 100,000', `{"a": ${nested(100_000)}}`, INVALID),
    holding(31, '__proto__ as a name', '{"__proto__": {"polluted": true}}', GOOD),
    holding(32, 'names of Object.prototype', '{"constructor": 1, "toString": 2, "hasOwnProperty": 3}', GOOD),
    {
      row: 87,
      name: 'a body beyond the limit',
      method,
      path,
      body: body(`"${field}": {"a": "${'x'.repeat(limitBytes)}"}`),
      status: 413,
      code: 'payload_too_large',
    },
  ]
}

/** Rows 1 to 36 and 87: what a JSON body can be. */
export const bodyCases = (target: Target): BadInput[] => [...syntax(target), ...freeForm(target)]

const span = (name: string, members: string) =>
  `{"trace_id": "bad", "name": "${name}", "start_time": "2026-01-01T00:00:00Z"${members && `, ${members}`}}`
const credential = (name: string, members: string) =>
  `{"name": "${name}", "type": "key", "payload": "p"${members && `, ${members}`}}`

export const SPAN: Target = {
  method: 'POST',
  path: '/spans',
  body: (members = '') => span('bad', members),
  named: (name) => span(name, ''),
  freeForm: 'data',
  limitBytes: 4 * 1024 ** 2,
}

export const CREDENTIAL: Target = {
  method: 'POST',
  path: '/v5/credentials',
  body: (members = '') => credential(randomUUID(), members),
  named: (name) => credential(name, ''),
  freeForm: 'credential_metadata',
  limitBytes: 1024 ** 2,
}
