import { INVALID, MISSING, post, type BadInput } from './bad-input-types.ts'

const MISMATCH = { status: 422, code: 'vendor_mismatch' }
const DEPLOYING = { status: 409, code: 'model_deploying', answerHeaders: { 'retry-after': '10' } }

const llm = (row: number, name: string, configuration: object, more: object = {}): BadInput =>
  post(row, name, '/v5/models', {
    name: `bad-${row}`,
    vendor_configuration: { model: 'llama-3-8b', ...configuration },
    ...more,
  })

const IMAGE = { command: ['serve'], registry: 'registry.example.com', repository: 'search/ranker', tag: '1.4.2' }

const launch = (row: number, name: string, image: object, infra: object = {}): BadInput =>
  post(row, name, '/v5/models', {
    name: `bad-${row}`,
    model_vendor: 'launch',
    vendor_configuration: { model_image: { ...IMAGE, ...image }, model_infra: infra },
  })

const patch = (row: number, name: string, path: string, body: object, expected: object = INVALID): BadInput => ({
  ...post(row, name, path, body, expected),
  method: 'PATCH',
})

const changes: BadInput[] = [
  patch(74, 'no change', '/v5/models/$model', {}, { status: 200 }),
  patch(75, 'a name and a configuration', '/v5/models/$model', { name: 'x', vendor_configuration: {} }),
  patch(76, 'a configuration for a hosted model', '/v5/models/$model', { vendor_configuration: {} }, MISMATCH),
  patch(80, 'an update while deploying', '/v5/models/$deploying', { vendor_configuration: {} }, DEPLOYING),
  { row: 80, name: 'a deletion while deploying', method: 'DELETE', path: '/v5/models/$deploying', ...DEPLOYING },
  patch(81, 'a swap with itself', '/v5/models/$model', { name: '$model_name', on_conflict: 'swap' }, { status: 200 }),
  patch(
    81,
    'a swap with one of another vendor',
    '/v5/models/$model',
    { name: '$deploying_name', on_conflict: 'swap' },
    { status: 200 },
  ),
  patch(
    81,
    'a swap with one that deploys',
    '/v5/models/$deploying',
    { name: '$other_deploying_name', on_conflict: 'swap' },
    DEPLOYING,
  ),
]

const conditions: BadInput[] = (
  [
    ['"999999"', 412],
    ['W/"1"', 412],
    ['1', 400],
    ['*', 200],
  ] as const
).flatMap(([tag, status]) =>
  ['/v5/models/$model', '/v5/credentials/$credential'].map((path) => ({
    ...patch(98, `If-Match: ${tag}`, path, {}, { status }),
    headers: { 'if-match': tag },
  })),
)

const MODELS: BadInput[] = [
  llm(76, 'the configuration of another vendor', { model_image: {} }, { model_vendor: 'launch' }),
  post(77, 'a launch model that chats', '/v5/models', {
    name: 'bad',
    model_vendor: 'launch',
    model_type: 'chat_completion',
    vendor_configuration: { model_image: IMAGE, model_infra: {} },
  }),
  ...['LAUNCH', 'unknown'].map((model_vendor) => llm(78, `model_vendor ${model_vendor}`, {}, { model_vendor })),
  llm(79, 'on_conflict swap on create', {}, { on_conflict: 'swap' }),
  launch(101, 'an environment variable that is an object', { env_vars: { A: { b: 1 } } }),
  launch(101, '10,000 environment variables', {
    env_vars: Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`V${index}`, 'x'])),
  }),
  ...['A=B', ''].map((name) => launch(101, `${name || 'nothing'} as a variable`, { env_vars: { [name]: 'x' } })),
  llm(102, 'more minimum than maximum workers', { min_workers: 5, max_workers: 1 }),
  ...[-1, 0.5, 1e9].map((gpus) => llm(102, `gpus ${gpus}`, { gpus })),
  launch(102, 'cpus that are no amount', {}, { cpus: 'abc' }),
  launch(103, 'no command', { command: [] }),
  launch(103, 'U+0000 in a command', { command: ['a\0b'] }),
  launch(103, 'a word of 1 MB', { command: ['x'.repeat(1_000_000)] }),
  launch(104, 'a tag with a command', { tag: 'latest;rm' }),
  ...['https://registry.example.com', 'user:password@registry.example.com'].map((registry) =>
    launch(104, `${registry} as a registry`, { registry }),
  ),
  ...[
    'file:///etc/passwd',
    'http://169.254.169.254/latest/meta-data',
    'http://[fd00:ec2::254]/',
    'https://user:password@example.com/',
    `https://example.com/${'x'.repeat(10_000)}`,
  ].map((url) => llm(105, `a callback to ${url.slice(0, 30)}`, { default_callback_url: url })),
  llm(106, 'a template of 20 kB', { chat_template_override: '{{ x }}'.repeat(3000) }),
  post(
    106,
    'a template of 5 MB',
    '/v5/models',
    { name: 'bad', vendor_configuration: { model: 'm', chat_template_override: 'x'.repeat(5_000_000) } },
    { status: 413 },
  ),
]

const credential = (row: number, name: string, fields: object, expected: object = INVALID): BadInput =>
  post(
    row,
    name,
    '/v5/credentials',
    { name: `bad-${row}-${name}`.slice(0, 255), type: 'key', payload: 'p', ...fields },
    expected,
  )

const FAMILY = '\u{1F468}\u200D\u{1F469}\u200D\u{1F467}'

const CREDENTIALS: BadInput[] = [
  ...['', '   ', 'x'.repeat(256), FAMILY.repeat(52)].map((name) =>
    credential(37, `a name of ${Array.from(name).length} ${name.trim() ? 'characters' : 'blanks'}`, { name }),
  ),
  ...['x'.repeat(255), FAMILY.repeat(51)].map((name) =>
    credential(37, `a name of 255 ${name.startsWith('x') ? 'letters' : 'parts of emoji'}`, { name }, { status: 200 }),
  ),
  ...['\u0007', '\u202E', '\u200B', '\uFEFF'].map((character) =>
    credential(39, `U+${character.codePointAt(0)!.toString(16)} in a name`, { name: `a${character}b` }),
  ),
  ...['\\u0000', '\\ud800'].map((escape) => ({
    row: 18,
    name: `${escape} in a payload`,
    method: 'POST',
    path: '/v5/credentials',
    body: `{"name": "bad", "type": "key", "payload": "a${escape}"}`,
    ...INVALID,
  })),
  credential(107, 'a payload that is not the JSON it says', { type: 'json', payload: '{' }),
  credential(107, 'a payload of 100 kB', { payload: 'x'.repeat(100_000) }),
  credential(107, 'a payload of 10 MB', { payload: 'x'.repeat(10_000_000) }, { status: 413 }),
  credential(107, 'a payload of base64', { payload: Buffer.alloc(3000, 255).toString('base64') }, { status: 200 }),
  { row: 42, name: 'by name without a name', path: '/v5/credentials/name', ...MISSING },
  { row: 43, name: 'name/x as an id', path: '/v5/credentials/name%2Fx', ...MISSING },
  {
    row: 108,
    name: 'a secret asked for with a body',
    method: 'POST',
    path: '/v5/credentials/$credential/secret',
    headers: { 'if-none-match': '*' },
    body: '{"ignored": true}',
    status: 200,
    answerHeaders: { 'cache-control': 'no-store' },
  },
  { row: 108, name: 'a secret asked for with GET', path: '/v5/credentials/$credential/secret', status: 405 },
  ...['sort_by=payload', 'sort_by=name;drop', 'sort_order=ASC'].map((query) => ({
    row: 61,
    name: query,
    path: `/v5/credentials?${query}`,
    ...INVALID,
  })),
  {
    row: 64,
    name: 'two cursors',
    path: '/v5/credentials?starting_after=$credential&ending_before=$credential',
    ...INVALID,
  },
  { row: 63, name: 'the cursor of another list', path: '/v5/credentials?starting_after=$model', ...INVALID },
  {
    row: 63,
    name: "another account's cursor where the order needs its row",
    path: '/v5/credentials?sort_by=name&starting_after=$foreign_credential',
    ...INVALID,
  },
  {
    row: 63,
    name: 'the cursor of no row where the order needs one',
    path: '/v5/credentials?sort_by=name&starting_after=cred_01kaf8zq4te3vbr6k2v9d8m5wn',
    ...INVALID,
  },
  ...['%25', '_', '%5C'].map((name) => ({
    row: 62,
    name: `${name} as a name`,
    path: `/v5/credentials?name=${name}`,
    status: 200,
    holds: '"total":0',
  })),
  { row: 60, name: 'a plus in a query', path: '/v5/credentials?name=$first+$second', status: 200, holds: '"total":1' },
]

export const PLATFORM_OBJECT_CASES: BadInput[] = [...MODELS, ...changes, ...conditions, ...CREDENTIALS]
