import { createHmac } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Account } from '../client.ts'
import type { Receipt } from '../stack/agent.ts'
import { asker, isOk, tellStories, type Context, type StartArea } from './area.ts'

const LANES = 2
const PAUSE_MS = 40
/** Both accounts have an agent of this name, and a trigger for the same repository. */
const AGENT = 'triage'
const REPOSITORY = 'octocat/hello-world'

type Trigger = { secret: string; webhook_path: string }

const bodyOf = ({ canary }: Account, delivery: string) =>
  JSON.stringify({ repository: { full_name: REPOSITORY }, of: canary, delivery })

const makeTrigger = async (context: Context, account: Account): Promise<Trigger> => {
  const ask = asker(context, 'webhooks', account)
  const agent = {
    name: AGENT,
    description: '',
    acp_url: `${context.stack.agentUrl}/${account.canary}`,
    acp_type: 'async',
  }
  await ask('POST', '/agents/register', { operation: 'register', target: AGENT }, agent)
  const trigger = { agent_name: AGENT, name: REPOSITORY, forward_path: 'hooks', delivery: 'durable' }
  const made = await ask('POST', '/agent_api_keys/webhook-trigger', { operation: 'trigger', target: AGENT }, trigger)
  if (!isOk(made)) throw new Error(`no trigger was made: ${made.status} ${made.text}`)
  return JSON.parse(made.text) as Trigger
}

/** Sends an event as GitHub does, without waiting for anything but the answer; some are sent twice. */
const sender =
  ({ client, stack }: Context, triggers: ReadonlyMap<Account, Trigger>) =>
  (account: Account, delivery: string) => {
    const { secret, webhook_path } = triggers.get(account)!
    const body = bodyOf(account, delivery)
    const headers = {
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
      'x-github-delivery': delivery,
      'x-github-event': 'push',
    }
    const request = { method: 'POST' as const, url: stack.agentApiUrl + webhook_path, headers, body }
    return client(account, request, { area: 'webhooks', operation: 'event', target: delivery, write: true })
  }

/** Lets the hours between attempts pass; claims of killed workers run their real time. */
const skipPauses = ({ stack }: Context) => stack.db.sql`
  update agent.webhook_deliveries set next_attempt_at = now() where status = 'pending' and claimed_until is null`

const checkReceipts = (
  { history }: Context,
  account: Account,
  delivery: string,
  receipts: readonly Receipt[],
): void => {
  const violate = (kind: 'lost' | 'doubled', detail: string) =>
    history.violate(kind, 'webhooks', `${delivery} of ${account.canary} ${detail}`)
  if (!receipts.some(({ status }) => status === 200))
    violate('lost', 'was answered 202 and never accepted by the agent')
  const attempts = receipts.map(({ attempt }) => attempt)
  if (new Set(attempts).size < attempts.length) violate('doubled', `came twice as one attempt: ${attempts.join(', ')}`)
  if (receipts.some(({ body }) => body !== bodyOf(account, delivery))) violate('lost', 'arrived with another body')
}

const checkAccount = async (context: Context, account: Account): Promise<void> => {
  const { history, stack } = context
  const receipts = Map.groupBy(
    stack.receipts.filter(({ canary }) => canary === account.canary),
    ({ delivery }) => delivery,
  )
  const accepted = history
    .callsOf('webhooks')
    .filter((call) => call.operation === 'event' && call.account === account.canary && isOk(call))
  for (const delivery of new Set(accepted.map(({ target }) => target))) {
    checkReceipts(context, account, delivery, receipts.get(delivery) ?? [])
  }
  const doubled = await stack.db.sql<{ id: string }[]>`
    select source_delivery_id as id from agent.webhook_deliveries
    where account_id = ${account.account_id} group by 1 having count(*) > 1`
  for (const { id } of doubled) history.violate('doubled', 'webhooks', `${id} of ${account.canary} is kept twice`)
}

export const startWebhooks: StartArea = async (context) => {
  const { stack, history } = context
  const triggers = new Map<Account, Trigger>()
  for (const account of stack.accounts) triggers.set(account, await makeTrigger(context, account))
  const send = sender(context, triggers)
  const random = context.random('webhooks')
  const ended = tellStories(context, LANES, async (account, name) => {
    await Promise.all(Array.from({ length: random.chance(0.1) ? 2 : 1 }, () => send(account, `event-${name}`)))
    await delay(PAUSE_MS)
  })
  return {
    ended,
    pending: async () => {
      await skipPauses(context)
      const [row] = await stack.db.sql<[{ left: number }]>`
        select count(*)::int as left from agent.webhook_deliveries where status <> 'delivered'`
      return row.left
    },
    check: async () => {
      for (const account of stack.accounts) await checkAccount(context, account)
      for (const { canary, body } of stack.receipts) {
        if (!body.includes(canary)) history.violate('foreign', 'webhooks', `the agent of ${canary} got ${body}`)
      }
    },
  }
}
