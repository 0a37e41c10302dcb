import { bodyCases, CREDENTIAL, SPAN } from './bad-input-bodies.ts'

/** One request that must be answered as said; headers with an empty value are left out. */
export type BadInput = {
  /** Its row in the catalogue. */
  row: number
  name: string
  method?: string
  path: string
  headers?: Record<string, string>
  body?: string | Buffer | undefined
  status: number
  code?: string
  answerHeaders?: Record<string, string>
}

type Names = {
  list: string
  object: string
  byName: string
  post: string
  patch: string
  wrongKey: Record<string, string>
}

const INVALID = { status: 422, code: 'invalid_request' }
const MISSING = { status: 404, code: 'not_found' }
const NO_PATH = { status: 404, code: 'unknown_path' }
const BAD_REQUEST = { status: 400, code: 'malformed_request' }
const NO_KEY = { status: 401, code: 'unauthenticated' }

const paths = ({ list, object, post }: Names): BadInput[] => [
  ...['%zz', '%ff'].map((id) => ({ row: 44, name: `${id} as an id`, path: object + id, ...BAD_REQUEST })),
  { row: 45, name: '%00 as an id', path: `${object}a%00`, ...MISSING },
  ...["1' or '1'='1", '..%2f..%2fetc', 'x'.repeat(10_000)].map((id) => ({
    row: 46,
    name: `${id.slice(0, 20)} as an id`,
    path: object + encodeURIComponent(id),
    ...MISSING,
  })),
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
  { row: 51, name: 'OPTIONS', method: 'OPTIONS', path: list, status: 204, answerHeaders: {} },
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
  { row: 90, name: 'Upgrade', path: list, headers: { upgrade: 'h2c' }, status: 200 },
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

const queries = ({ list }: Names): BadInput[] => [
  ...['0', '-1', '1.5', 'abc', '', 'true', '0x10', '1e1', '%205%20', '999999999999999999999'].map((limit) => ({
    row: limit === '0x10' || limit === '1e1' ? 54 : 53,
    name: `limit=${limit}`,
    path: `${list}?limit=${limit}`,
    ...INVALID,
  })),
  { row: 56, name: 'limit twice', path: `${list}?limit=1&limit=2`, ...INVALID },
  { row: 59, name: 'a value that is not percent-encoded', path: `${list}?limit=%zz`, ...BAD_REQUEST },
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
    { row: 95, name: 'Basic', path: list, headers: { ...without, authorization: 'Basic eDp5' }, ...NO_KEY },
    { row: 95, name: 'AgentKey', path: list, headers: { ...without, authorization: 'AgentKey x' }, ...NO_KEY },
    {
      row: 97,
      name: 'an empty Idempotency-Key',
      path: list,
      method: 'POST',
      headers: { 'idempotency-key': ' ' },
      body: '{}',
      ...BAD_REQUEST,
    },
  ]
}

const common = (names: Names): BadInput[] => [...paths(names), ...queries(names), ...keys(names)]

const post = (row: number, name: string, path: string, body: object, expected: object = INVALID): BadInput =>
  ({ row, name, method: 'POST', path, body: JSON.stringify(body), ...expected }) as BadInput

const llm = (row: number, name: string, configuration: object, more: object = {}): BadInput =>
  post(row, name, '/v5/models', {
    name: `bad-${row}`,
    vendor_configuration: { model: 'llama-3-8b', ...configuration },
    ...more,
  })

const MODELS: BadInput[] = [
  llm(76, 'the configuration of another vendor', { model_image: {} }, { model_vendor: 'launch' }),
  ...['LAUNCH', 'unknown'].map((model_vendor) => llm(78, `model_vendor ${model_vendor}`, {}, { model_vendor })),
  llm(79, 'on_conflict swap on create', {}, { on_conflict: 'swap' }),
  llm(102, 'more minimum than maximum workers', { min_workers: 5, max_workers: 1 }),
  ...[-1, 0.5].map((gpus) => llm(102, `gpus ${gpus}`, { gpus })),
]

const CREDENTIALS: BadInput[] = [
  ...['', 'x'.repeat(256)].map((name) =>
    post(37, `a name of ${name.length}`, '/v5/credentials', { name, type: 'key', payload: 'p' }),
  ),
  post(39, 'a control character in a name', '/v5/credentials', { name: 'a\u0007', type: 'key', payload: 'p' }),
  post(18, 'U+0000 in a payload', '/v5/credentials', { name: 'n', type: 'key', payload: '\0' }),
  post(107, 'a payload that is not the JSON it says', '/v5/credentials', { name: 'n', type: 'json', payload: '{' }),
  post(107, 'a payload of 100 kB', '/v5/credentials', { name: 'n', type: 'key', payload: 'x'.repeat(100_000) }),
  { row: 42, name: 'by name without a name', path: '/v5/credentials/name', ...MISSING },
  { row: 108, name: 'a secret asked for with GET', path: '/v5/credentials/cred_x/secret', status: 405 },
  { row: 61, name: 'sorting by a secret', path: '/v5/credentials?sort_by=payload', ...INVALID },
  { row: 64, name: 'two cursors', path: '/v5/credentials?starting_after=a&ending_before=b', ...INVALID },
  { row: 62, name: 'a wildcard as a name', path: '/v5/credentials?name=%25', status: 200 },
]

const AT = '2026-01-01T00:00:00Z'
const span = (row: number, name: string, fields: object, expected: object = INVALID): BadInput =>
  post(row, name, '/spans', { trace_id: 'bad', name: 'bad', start_time: AT, ...fields }, expected)

const SPANS: BadInput[] = [
  ...[
    'now',
    'infinity',
    'epoch',
    '2024-02-30',
    '0000-01-01T00:00:00Z',
    '2024-01-01T25:00:00Z',
    '2024-01-01T00:00:00+16:00',
  ].map((start_time) => span(67, `start_time ${start_time}`, { start_time })),
  ...['2024-01-01', '2024-01-01T00:00:00', '2024-01-01T00:00:00.123456789Z'].map((start_time) =>
    span(70, `start_time ${start_time}`, { start_time }, { status: 200 }),
  ),
  span(71, 'an end before the start', { end_time: '2025-01-01T00:00:00Z' }),
  { row: 66, name: 'page 0', path: '/spans?page_number=0', ...INVALID },
  { row: 66, name: 'page 1e9', path: '/spans?page_number=1000000000', ...INVALID },
  { row: 61, name: 'ordering by what is no column', path: '/spans?order_by=name;drop', ...INVALID },
  post(3, 'a blob that is no base64', '/checkpoints/put', {
    thread_id: 't',
    checkpoint_id: 'c',
    blobs: [{ channel: 'c', version: '1', blob: '***' }],
  }),
  post(30, 'an empty batch', '/spans/batch', { spans: 'none' }),
]

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
  ...MODELS,
  ...CREDENTIALS,
  {
    row: 96,
    name: 'the key as Bearer',
    path: '/v5/models',
    headers: { 'x-api-key': '', authorization: 'Bearer x' },
    ...NO_KEY,
  },
]

export const AGENT_CASES: BadInput[] = [
  ...bodyCases(SPAN),
  ...common({
    list: '/spans',
    object: '/spans/',
    byName: '/agents/name/',
    post: '/spans',
    patch: '/spans/x',
    wrongKey: { authorization: '' },
  }),
  ...SPANS,
  {
    row: 96,
    name: 'the key as x-api-key',
    path: '/spans',
    headers: { authorization: '', 'x-api-key': 'x' },
    ...NO_KEY,
  },
]
