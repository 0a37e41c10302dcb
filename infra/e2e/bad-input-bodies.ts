import { randomUUID } from 'node:crypto'
import { INVALID, type BadInput } from './bad-input-types.ts'

type Target = {
  method: 'POST'
  path: string
  /** A good body with these members added, as text. */
  body: (members?: string) => string
  /** A good body with this text in place of its name. */
  named: (name: string) => string
  /** A free-form member. */
  freeForm: string
  /** What a free-form member of very many parts is answered with: where it is text, only its size counts. */
  manyMembers: object
  /** Another operation's body with this text where a number is due. */
  numeric: { path: string; body: (text: string) => string }
  limitBytes: number
}

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

const MALFORMED = { status: 400, code: 'malformed_json' }
const WRONG_TYPE = { status: 415, code: 'unsupported_media_type' }
const TOO_LARGE = { status: 413, code: 'payload_too_large' }
const GOOD = { status: 200 }

const manyNames = () => Array.from({ length: 250_000 }, (_, index) => `"${index.toString(36)}":0`).join()

const MEDIA_TYPES = [
  [5, 'text/plain', WRONG_TYPE],
  [6, 'APPLICATION/JSON; charset=utf-8', GOOD],
  [7, 'application/json; charset=utf-16', WRONG_TYPE],
  [8, 'application/vnd.example+json', GOOD],
  [9, 'multipart/form-data; boundary=x', WRONG_TYPE],
  [9, 'application/x-www-form-urlencoded', WRONG_TYPE],
] as const

const mediaTypes = ({ method, path, body }: Target): BadInput[] =>
  MEDIA_TYPES.map(([row, type, expected]) => ({
    row,
    name: type,
    method,
    path,
    headers: { 'content-type': type },
    body: body(),
    ...expected,
  }))

const syntax = (target: Target): BadInput[] => {
  const { method, path, body, named, numeric } = target
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
    ...mediaTypes(target),
    { row: 10, name: 'a byte order mark', ...to, body: `\uFEFF${body()}`, ...MALFORMED },
    { row: 11, name: 'bytes that are no UTF-8', ...to, body: bytes(named('a\xff\xfe')), ...MALFORMED },
    { row: 12, name: 'overlong UTF-8', ...to, body: bytes(named('a\xc0\x80')), ...MALFORMED },
    { row: 12, name: 'surrogates as UTF-8', ...to, body: bytes(named('a\xed\xa0\x80')), ...MALFORMED },
    { row: 13, name: 'U+0000 in a name', ...to, body: named(String.raw`a\u0000`), ...INVALID },
    ...['a', 'b'].map((text) => ({
      row: text === 'a' ? 15 : 16,
      name: 'a lone surrogate in a name',
      ...to,
      body: named(String.raw`${text}\ud800`),
      ...INVALID,
    })),
    ...['1e400', '1e131072', '"5"', 'true', '[1]'].map((text) => ({
      row: text.startsWith('1e') ? 20 : 34,
      name: `${text} where a number is due`,
      method,
      path: numeric.path,
      body: numeric.body(text),
      ...INVALID,
    })),
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
    ...['["a", "b"]', '{"a": 1}', 'true'].map((text) => ({
      row: 35,
      name: `${text} for a text`,
      ...to,
      body: named('').replace('"name": ""', `"name": ${text}`),
      ...INVALID,
    })),
    { row: 40, name: 'a name of 5,000 characters', ...to, body: named('x'.repeat(5000)), ...INVALID },
    { row: 87, name: 'a compressed body', ...to, headers: { 'content-encoding': 'gzip' }, body: body(), ...WRONG_TYPE },
  ]
}

const freeForm = ({ method, path, body, freeForm: field, manyMembers, limitBytes }: Target): BadInput[] => {
  const holding = (row: number, name: string, text: string, expected: object): BadInput =>
    ({ row, name, method, path, body: body(`"${field}": ${text}`), ...expected }) as BadInput
  return [
    holding(14, 'U+0000 in free-form JSON', String.raw`{"a": "\u0000"}`, GOOD),
    holding(17, 'a lone surrogate in free-form JSON', String.raw`{"a": "\ud800"}`, GOOD),
    holding(22, 'an integer beyond 2^53', '{"a": 9007199254740993}', GOOD),
    holding(21, '1e400', '{"a": 1e400}', GOOD),
    holding(24, '1e131072', '{"a": 1e131072}', GOOD),
    holding(36, 'null for what is optional', 'null', GOOD),
    holding(29, 'a nesting of 50,000 objects', `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`, INVALID),
    holding(30, '400,000 items', `{"a": [${'0,'.repeat(400_000)}0]}`, manyMembers),
    holding(30, '250,000 names, each given once', `{${manyNames()}}`, limitBytes > 2 ** 21 ? manyMembers : TOO_LARGE),
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
      ...TOO_LARGE,
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
  manyMembers: GOOD,
  numeric: {
    path: '/checkpoints/put-writes',
    body: (text) =>
      `{"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": "c", "writes": [{"task_id": "t", "idx": ${text}, "channel": "c", "type": "json", "blob": "e30="}]}`,
  },
  limitBytes: 4 * 1024 ** 2,
}

export const CREDENTIAL: Target = {
  method: 'POST',
  path: '/v5/credentials',
  body: (members = '') => credential(randomUUID(), members),
  named: (name) => credential(name, ''),
  freeForm: 'credential_metadata',
  manyMembers: INVALID,
  numeric: {
    path: '/v5/models',
    body: (text) => `{"name": "bad", "vendor_configuration": {"model": "llama-3-8b", "gpus": ${text}}}`,
  },
  limitBytes: 1024 ** 2,
}
