import { createHmac } from 'node:crypto'
import { WEBHOOK_SECRET } from './bad-input-objects.ts'
import { INVALID, post, type BadInput } from './bad-input-types.ts'

export const PUSH = JSON.stringify({ repository: { full_name: 'octocat/hello-world' } })
const EVENT = JSON.stringify({ type: 'event_callback', api_app_id: 'A1', event_id: 'Ev1' })
const HOOK = '/agents/forward/name/agent-first/hooks'
const SLACK = '/agents/forward/name/agent-first/slack'

const hmac = (text: string) => createHmac('sha256', WEBHOOK_SECRET).update(text).digest('hex')

export const signed = (body: string, delivery = 'd-1'): Record<string, string> => ({
  'content-type': 'application/json',
  'x-github-event': 'push',
  'x-github-delivery': delivery,
  'x-hub-signature-256': `sha256=${hmac(body)}`,
  authorization: '',
})

const REFUSED = { status: 401, code: 'invalid_signature' }
const CANNOT = { status: 400, code: 'malformed_request' }

const paths: BadInput[] = [
  '..',
  '%2e%2e',
  '..%2f..',
  '//evil.example',
  '%00',
  '%5c',
  'a;b',
  '%252e%252e',
  'a%0d%0ab',
  '.',
  'x'.repeat(256),
].map((path) => ({
  row: 109,
  name: `${path.slice(0, 20)} in a path`,
  method: 'POST',
  path: `${HOOK}/${path}/x`,
  headers: signed(PUSH),
  body: PUSH,
  ...CANNOT,
}))

const trigger = (name: string, fields: object, expected: object = INVALID): BadInput =>
  post(
    110,
    name,
    '/agent_api_keys/webhook-trigger',
    { agent_name: 'agent-first', name: 'octocat/other', forward_path: 'x', ...fields },
    expected,
  )

const triggers: BadInput[] = [
  ...['internal', 'external'].map((source) =>
    trigger(`the source ${source}`, { source }, { status: 400, code: 'unsupported_source' }),
  ),
  trigger('slack without a secret', { source: 'slack' }),
  trigger('an empty secret', { secret: '' }),
  trigger('a short secret', { secret: 'short' }),
  ...['a\nb', 'a/../b', 'a;b', 'a//b'].map((forward_path) =>
    trigger(`the path ${JSON.stringify(forward_path)}`, { forward_path }),
  ),
  ...['javascript:alert(1)', 'https://user@example.com', 'https://example.com/?q'].map((base_url) =>
    trigger(`the base ${base_url}`, { base_url }),
  ),
  trigger('an agent that is not there', { agent_name: 'nobody' }, { status: 404, code: 'not_found' }),
  trigger("another account's agent", { agent_name: 'agent-second' }, { status: 404, code: 'not_found' }),
]

const github = (name: string, headers: Record<string, string>, body = PUSH): BadInput => ({
  row: 111,
  name,
  method: 'POST',
  path: HOOK,
  headers: { ...signed(PUSH), ...headers },
  body,
  ...REFUSED,
})

const signature = (text: string) => ({ 'x-hub-signature-256': text })

const hooks: BadInput[] = [
  github('no signature', signature('')),
  github('a short signature', signature(`sha256=${hmac(PUSH).slice(1)}`)),
  github('a signature in capitals', signature(`sha256=${hmac(PUSH).toUpperCase()}`)),
  github('a signature beyond ASCII', signature('sha256=\u00fc')),
  github('a signature of another kind', signature(`sha1=${hmac(PUSH).slice(0, 40)}`)),
  github('two signatures', signature(`sha256=${hmac(PUSH)}, sha256=${hmac(PUSH)}`)),
  github('one byte changed', {}, `${PUSH} `),
  github('nothing to sign with', signature(`sha256=${createHmac('sha256', '').update(PUSH).digest('hex')}`)),
  {
    ...github('two ways at once', { 'x-agent-api-key': 'klagent_x' }),
    ...CANNOT,
  },
]

const slack = (name: string, timestamp: string): BadInput => ({
  row: 111,
  name: `a Slack timestamp ${name}`,
  method: 'POST',
  path: SLACK,
  headers: {
    'content-type': 'application/json',
    'x-slack-request-timestamp': timestamp,
    'x-slack-signature': `v0=${hmac(`v0:${timestamp}:${EVENT}`)}`,
    authorization: '',
  },
  body: EVENT,
  ...REFUSED,
})

const seconds = (offset: number) => String(Math.floor(Date.now() / 1000) + offset)

/** Rows 109 to 111. What is signed with a time is signed anew by each call. */
export const webhookCases = (): BadInput[] => [
  ...paths,
  ...triggers,
  ...hooks,
  slack('five minutes old', seconds(-310)),
  slack('five minutes ahead', seconds(310)),
  ...['NaN', '1e9', '', '-1', '1_0', '\u0661'].map((timestamp) => slack(JSON.stringify(timestamp), timestamp)),
]
