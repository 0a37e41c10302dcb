import { AGENT_OBJECT_CASES } from './bad-input-agent-objects.ts'
import { bodyCases, CREDENTIAL, SPAN } from './bad-input-bodies.ts'
import { PLATFORM_OBJECT_CASES } from './bad-input-platform-objects.ts'
import { BAD_REQUEST, INVALID, MISSING, NO_KEY, NO_PATH, type BadInput } from './bad-input-types.ts'

type Names = {
  list: string
  object: string
  byName: string
  post: string
  patch: string
  wrongKey: Record<string, string>
}

const paths = ({ list, object, post }: Names): BadInput[] => [
  ...['%zz', '%ff'].map((id) => ({ row: 44, name: `${id} as an id`, path: object + id, ...BAD_REQUEST })),
  { row: 45, name: '%00 as an id', path: `${object}a%00`, ...MISSING },
  ...["1' or '1'='1", '../../etc', 'x'.repeat(10_000), '019AA5E0-7C1D-7B62-9A55-3F0E8A1C4D27'].map((id) => ({
    row: 46,
    name: `${id.slice(0, 20)} as an id`,
    path: object + encodeURIComponent(id),
    ...MISSING,
  })),
  { row: 46, name: 'dot segments', path: `${object}../../etc`, ...NO_PATH },
  { row: 47, name: 'a slash at the end', path: `${list}/`, status: 404 },
  { row: 47, name: 'two slashes', path: `/${list}`, ...NO_PATH },
  { row: 49, name: 'a method the path lacks', method: 'PURGE', path: list, status: 405, code: 'method_not_allowed' },
  {
    row: 49,
    name: 'PUT on a list',
    method: 'PUT',
    path: list,
    body: '{}',
    status: 405,
    answerHeaders: { allow: 'GET, HEAD, POST, OPTIONS' },
  },
  { row: 50, name: 'TRACE', method: 'TRACE', path: list, status: 405 },
  { row: 50, name: 'a method in small letters', method: 'get', path: list, status: 400 },
  { row: 51, name: 'HEAD', method: 'HEAD', path: list, status: 200 },
  {
    row: 51,
    name: 'OPTIONS',
    method: 'OPTIONS',
    path: list,
    status: 204,
    answerHeaders: { allow: 'GET, HEAD, POST, OPTIONS' },
  },
  { row: 52, name: 'a method override', path: list, headers: { 'x-http-method-override': 'DELETE' }, status: 200 },
  {
    row: 85,
    name: 'a URL of 20 kB',
    path: `${list}?name=${'x'.repeat(20_000)}`,
    status: 431,
    code: 'headers_too_large',
  },
  { row: 99, name: 'Accept: image/png', path: list, headers: { accept: 'image/png' }, status: 200 },
  { row: 100, name: 'Range', path: list, headers: { range: 'bytes=0-1' }, status: 200 },
  ...['h2c', 'websocket'].map((upgrade) => ({
    row: 90,
    name: `an upgrade to ${upgrade}`,
    path: list,
    headers: { upgrade },
    status: 200,
  })),
  {
    row: 89,
    name: 'an expectation that cannot be met',
    path: post,
    method: 'POST',
    headers: { expect: 'nope' },
    body: '{}',
    status: 417,
  },
]

const LIMITS = {
  53: ['0', '-1', '1.5', 'abc', '', 'true'],
  54: ['0x10', '1e1', '%205%20'],
  55: ['10001', '999999999999999999999'],
}

const queries = ({ list }: Names): BadInput[] => [
  ...Object.entries(LIMITS).flatMap(([row, limits]) =>
    limits.map((limit) => ({
      row: Number(row),
      name: `limit=${limit}`,
      path: `${list}?limit=${limit}`,
      ...INVALID,
    })),
  ),
  { row: 56, name: 'limit twice', path: `${list}?limit=1&limit=2`, ...INVALID },
  ...['limit[]=2', 'limit%5B%5D=2'].map((query) => ({ row: 57, name: query, path: `${list}?${query}`, status: 200 })),
  ...['%zz', '%ff'].map((text) => ({
    row: 59,
    name: `${text} in a query`,
    path: `${list}?name=${text}`,
    ...BAD_REQUEST,
  })),
  { row: 58, name: 'an unknown parameter', path: `${list}?unknown=1`, status: 200 },
]

const keys = ({ list, wrongKey }: Names): BadInput[] => {
  const [header = ''] = Object.keys(wrongKey)
  const scheme = header === 'authorization' ? 'Bearer ' : ''
  const without = { 'x-api-key': '', authorization: '' }
  return [
    { row: 94, name: 'no key', path: list, headers: without, ...NO_KEY },
    { row: 94, name: 'an empty key', path: list, headers: { ...without, [header]: `${scheme} ` }, ...NO_KEY },
    { row: 94, name: 'a wrong key', path: list, headers: { ...without, [header]: `${scheme}wrong` }, ...NO_KEY },
    {
      row: 94,
      name: 'a key of 10 kB',
      path: list,
      headers: { ...without, [header]: scheme + 'x'.repeat(10_000) },
      ...NO_KEY,
    },
    { row: 94, name: 'a key in the query', path: `${list}?api_key=x&key=x`, headers: without, ...NO_KEY },
    ...['starting_after'].map((cursor) => ({
      row: 65,
      name: 'a cursor that is none',
      path: `${list}?${cursor}=${'x'.repeat(300)}`,
      ...INVALID,
    })),
    { row: 95, name: 'Basic', path: list, headers: { ...without, authorization: 'Basic eDp5' }, ...NO_KEY },
    { row: 95, name: 'AgentKey', path: list, headers: { ...without, authorization: 'AgentKey x' }, ...NO_KEY },
    ...['', 'x'.repeat(300), 'a, b', '\u00fc'].map((key) => ({
      row: 97,
      name: `${key.slice(0, 8) || 'nothing'} as an Idempotency-Key`,
      path: list,
      method: 'POST',
      headers: { 'idempotency-key': key || ' ' },
      body: '{}',
      ...BAD_REQUEST,
    })),
  ]
}

const common = (names: Names): BadInput[] => [...paths(names), ...queries(names), ...keys(names)]

export const PLATFORM_CASES: BadInput[] = [
  ...bodyCases(CREDENTIAL),
  ...common({
    list: '/v5/credentials',
    object: '/v5/credentials/',
    byName: '/v5/credentials/name/',
    post: '/v5/credentials',
    patch: '/v5/models/x',
    wrongKey: { 'x-api-key': '' },
  }),
  ...PLATFORM_OBJECT_CASES,
  {
    row: 96,
    name: 'the key as Bearer',
    path: '/v5/models',
    headers: { 'x-api-key': '', authorization: 'Bearer x' },
    ...NO_KEY,
  },
]

export const AGENT_CASES: BadInput[] = [
  ...common({
    list: '/spans',
    object: '/spans/',
    byName: '/agents/name/',
    post: '/spans',
    patch: '/spans/x',
    wrongKey: { authorization: '' },
  }),
  ...AGENT_OBJECT_CASES,
  {
    row: 96,
    name: 'the key as x-api-key',
    path: '/spans',
    headers: { authorization: '', 'x-api-key': 'x' },
    ...NO_KEY,
  },
  // Last: what they leave behind makes lists long.
  ...bodyCases(SPAN),
]
