import { INVALID, post, type BadInput } from './bad-input-types.ts'

const AT = '2026-01-01T00:00:00Z'

const span = (row: number, name: string, fields: object, expected: object = INVALID): BadInput =>
  post(row, name, '/spans', { trace_id: 'bad', name: 'bad', start_time: AT, ...fields }, expected)

const REFUSED_TIMES = {
  67: ['now', 'infinity', 'epoch', ''],
  68: ['2024-01-01T24:00:00Z', '2024-01-01T00:00:60Z', '2024-01-01T25:00:00Z'],
  69: ['2024-02-30', '0000-01-01T00:00:00Z', '+010000-01-01T00:00:00Z', '2024-01-01T00:00:00+16:00'],
}

const TAKEN_TIMES = {
  67: ['2024-01-01', '2024-01-01T00:00:00'],
  68: ['2024-01-01t00:00:00z', '2024-01-01 00:00:00Z'],
  70: ['2024-01-01T00:00:00.123456789Z'],
}

const times = (table: Record<string, string[]>, expected: object): BadInput[] =>
  Object.entries(table).flatMap(([row, texts]) =>
    texts.map((start_time) => span(Number(row), `start_time ${start_time}`, { start_time }, expected)),
  )

const SPANS: BadInput[] = [
  ...times(REFUSED_TIMES, INVALID),
  ...times(TAKEN_TIMES, { status: 200 }),
  span(71, 'an end before the start', { end_time: '2025-01-01T00:00:00Z' }),
  span(72, 'a parent that is itself', { id: 'own', parent_id: 'own' }),
  {
    ...post(72, 'a parent that becomes itself', '/spans/$span', { parent_id: '$span' }, INVALID),
    method: 'PATCH',
  },
  span(72, 'a parent that is not there', { parent_id: 'absent' }, { status: 200 }),
  span(73, 'a span again, the same', { id: '$span', trace_id: 'first', name: 'n' }, { status: 200 }),
  span(73, 'a span again, otherwise', { id: '$span', name: 'other' }, { status: 409, code: 'span_exists' }),
  { ...post(74, 'no change', '/spans/$span', {}, { status: 200 }), method: 'PATCH' },
  ...(
    [
      ['"1"', 412],
      ['W/"1"', 412],
      ['1', 400],
      ['*', 200],
    ] as const
  ).map(([tag, status]) => ({
    ...post(98, `If-Match: ${tag}`, '/spans/$span', {}, { status }),
    method: 'PATCH',
    headers: { 'if-match': tag },
  })),
  ...['page_number=0', 'page_number=-1', 'page_number=1000000000'].map((query) => ({
    row: 66,
    name: query,
    path: `/spans?${query}`,
    ...INVALID,
  })),
  ...['order_by=name;drop', 'order_by=data', 'order_direction=up'].map((query) => ({
    row: 61,
    name: query,
    path: `/spans?${query}`,
    ...INVALID,
  })),
  { row: 63, name: "another account's cursor", path: '/spans?starting_after=$foreign_span', ...INVALID },
  { row: 63, name: 'the cursor of no row', path: '/spans?starting_after=absent', ...INVALID },
]

const CHECKPOINT = { thread_id: 't', checkpoint_ns: '', checkpoint_id: 'c', checkpoint: {}, metadata: {}, blobs: [] }

const CHECKPOINTS: BadInput[] = [
  post(34, 'a blob that is no base64', '/checkpoints/put', {
    ...CHECKPOINT,
    blobs: [{ channel: 'c', version: '1', type: 'json', blob: '***' }],
  }),
  post(37, 'a thread without a name', '/checkpoints/put', { ...CHECKPOINT, thread_id: '' }),
  post(35, 'a batch that is a text', '/spans/batch', { spans: 'none' }),
  post(30, 'a batch of 1,001', '/spans/batch', { spans: Array.from({ length: 1001 }, () => ({})) }),
]

const agent = (row: number, name: string, fields: object): BadInput =>
  post(row, name, '/agents/register', {
    name: 'bad',
    description: '',
    acp_url: 'http://127.0.0.1:9/',
    acp_type: 'sync',
    ...fields,
  })

const AGENTS: BadInput[] = [
  ...['', ' ', 'Triage', 'a/b', 'x'.repeat(256), 'a\u202Eb'].map((name) =>
    agent(name.length > 255 || name.trim() === '' ? 37 : 39, `${name.slice(0, 10) || 'nothing'} as an agent`, { name }),
  ),
  ...[
    'file:///etc/passwd',
    'javascript:alert(1)',
    'http://169.254.169.254/latest/meta-data',
    'http://user:password@127.0.0.1/',
    `http://127.0.0.1/${'x'.repeat(10_000)}`,
  ].map((acp_url) => agent(105, `an agent at ${acp_url.slice(0, 30)}`, { acp_url })),
]

export const AGENT_OBJECT_CASES: BadInput[] = [...SPANS, ...CHECKPOINTS, ...AGENTS]
