const request = (...lines: string[]) => `${lines.join('\r\n')}\r\n\r\n`

type ConnectionCase = { row: number; name: string; bytes: string; statuses: number[] }

const health = (...headers: string[]) => request('GET /healthz HTTP/1.1', 'host: a', ...headers)

/** Rows 82 to 92: what is wrong below the level at which a request is one. Status 0: the connection just ends. */
export const CONNECTION_CASES: ConnectionCase[] = [
  { row: 82, name: 'no Host', bytes: request('GET /healthz HTTP/1.1'), statuses: [400] },
  { row: 82, name: 'two Hosts', bytes: request('GET /healthz HTTP/1.1', 'host: a', 'host: b'), statuses: [400] },
  { row: 82, name: 'a Host that is none', bytes: request('GET /healthz HTTP/1.1', 'host: a b c'), statuses: [400] },
  {
    row: 83,
    name: 'a length and chunks',
    bytes: `${request('POST /spans HTTP/1.1', 'host: a', 'content-length: 5', 'transfer-encoding: chunked')}0\r\n\r\n`,
    statuses: [400],
  },
  {
    row: 83,
    name: 'two lengths',
    bytes: request('POST /spans HTTP/1.1', 'host: a', 'content-length: 1', 'content-length: 2'),
    statuses: [400],
  },
  {
    row: 83,
    name: 'more bytes than the length says',
    bytes: `${request('POST /healthz HTTP/1.1', 'host: a', 'content-length: 1')}xGARBAGE\r\n\r\n`,
    statuses: [405, 400],
  },
  {
    row: 89,
    name: 'a body announced for a method that takes none',
    bytes: health('expect: 100-continue'),
    statuses: [200],
  },
  {
    row: 94,
    name: 'two keys',
    bytes: request('GET /v5/models HTTP/1.1', 'host: a', 'x-api-key: a', 'x-api-key: b'),
    statuses: [401, 404],
  },
  {
    row: 94,
    name: 'two authorizations',
    bytes: request('GET /spans HTTP/1.1', 'host: a', 'authorization: Bearer a', 'authorization: Bearer b'),
    statuses: [401, 404],
  },
  {
    row: 83,
    name: 'a negative length',
    bytes: request('POST /spans HTTP/1.1', 'host: a', 'content-length: -1'),
    statuses: [400],
  },
  {
    row: 84,
    name: 'a folded header',
    bytes: request('GET /healthz HTTP/1.1', 'host: a', 'x-a: 1', ' 2'),
    statuses: [400],
  },
  {
    row: 84,
    name: 'a control character in a header',
    bytes: request('GET /healthz HTTP/1.1', 'host: a', 'x-a: \u0001'),
    statuses: [400],
  },
  { row: 84, name: 'bare line feeds', bytes: 'GET /healthz HTTP/1.1\nhost: a\n\n', statuses: [400] },
  {
    row: 85,
    name: 'headers of 20 kB',
    bytes: request('GET /healthz HTTP/1.1', 'host: a', `x-a: ${'a'.repeat(20_000)}`),
    statuses: [431],
  },
  {
    row: 86,
    name: '1,500 headers',
    bytes: request('GET /healthz HTTP/1.1', 'host: a', ...Array.from({ length: 1_500 }, (_, index) => `x${index}: 1`)),
    statuses: [431],
  },
  { row: 50, name: 'CONNECT', bytes: request('CONNECT a:443 HTTP/1.1', 'host: a:443'), statuses: [405] },
  { row: 50, name: 'a method that is none', bytes: request('FOO /healthz HTTP/1.1', 'host: a'), statuses: [400] },
  { row: 91, name: 'HTTP/1.0 without a Host', bytes: request('GET /healthz HTTP/1.0'), statuses: [200] },
  {
    row: 92,
    name: 'a target with another host',
    bytes: request('GET http://evil.example/healthz HTTP/1.1', 'host: a', 'connection: close'),
    statuses: [200, 400],
  },
  {
    row: 92,
    name: 'an asterisk for a target',
    bytes: request('OPTIONS * HTTP/1.1', 'host: a'),
    statuses: [204, 400, 404],
  },
  { row: 50, name: 'no HTTP at all', bytes: 'hello\r\n\r\n', statuses: [400] },
]

/** Row 88: what says nothing, or too little at a time; bytes to begin with, and what follows every so often. */
export const slowCases = (post: string, key: string) => [
  { name: 'a silent connection', first: '', drip: '' },
  { name: 'a head that comes by the letter', first: 'GET /healthz HTTP/1.1\r\nx-a: ', drip: 'a' },
  {
    name: 'a body that comes by the letter',
    first: request(`POST ${post} HTTP/1.1`, 'host: a', key, 'content-type: application/json', 'content-length: 1000'),
    drip: ' ',
  },
]
