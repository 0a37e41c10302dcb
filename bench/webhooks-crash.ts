import { createHmac, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { crashStack, VICTIMS, type Receipt, type Victim } from './webhooks/crash-stack.ts'

// Kills the agent, the worker, Redis and agent-api at random while webhooks arrive, and looks for every one that was
// answered 202 afterwards. Builds nothing:
//   pnpm build && node bench/webhooks-crash.ts [EVENTS]

const EVENTS = Number(process.argv[2] ?? 10_000)
const SENDERS = 16
const BODY = JSON.stringify({ repository: { full_name: 'octocat/hello-world' }, text: 'x'.repeat(900) })

await using stack = await crashStack()
const api = async <Answer>(path: string, body: object): Promise<Answer> => {
  const headers = { authorization: `Bearer ${stack.api_key}`, 'content-type': 'application/json' }
  const answer = await fetch(stack.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as Answer
}
const agent = { name: 'triage', description: '', acp_url: stack.agentUrl, acp_type: 'async' }
await api('/agents/register', agent)
const trigger = { agent_name: 'triage', name: 'octocat/hello-world', forward_path: 'hooks', delivery: 'durable' }
const { secret, webhook_path } = await api<{ secret: string; webhook_path: string }>(
  '/agent_api_keys/webhook-trigger',
  trigger,
)
const signature = `sha256=${createHmac('sha256', secret).update(BODY).digest('hex')}`

const accepted = new Set<string>()
const acceptMs: number[] = []
let sent = 0

/** Sends events once each, as GitHub does: one that got no 202 is not sent again. */
const sendAll = async () => {
  while (accepted.size < EVENTS) {
    const delivery = randomUUID()
    sent += 1
    const headers = { 'x-hub-signature-256': signature, 'x-github-delivery': delivery, 'x-github-event': 'push' }
    const startedAt = performance.now()
    const answer = await fetch(stack.url + webhook_path, { method: 'POST', headers, body: BODY }).catch(() => null)
    if (answer?.status === 202) {
      accepted.add(delivery)
      acceptMs.push(performance.now() - startedAt)
    } else await delay(20)
  }
}

const killed = Object.fromEntries(VICTIMS.map((victim) => [victim, 0])) as Record<Victim, number>
const killAtRandom = async () => {
  while (accepted.size < EVENTS) {
    await delay(300 + Math.random() * 1500)
    const victim = VICTIMS[Math.floor(Math.random() * VICTIMS.length)]!
    await stack.crash(victim, Math.random() * 1000)
    killed[victim] += 1
    process.stdout.write(`killed ${victim}, ${accepted.size} events accepted\n`)
  }
}

/** Lets the hours between attempts pass; claims of killed workers run their real time. */
const skipPauses = () => stack.db.sql`
  update agent.webhook_deliveries set next_attempt_at = now() where status = 'pending' and claimed_until is null`

await Promise.all([killAtRandom(), ...Array.from({ length: SENDERS }, sendAll)])
const deadline = Date.now() + 240_000
const unfinished = async (): Promise<number> => {
  const [row] = await stack.db.sql<[{ left: number }]>`
    select count(*)::int as left from agent.webhook_deliveries where status <> 'delivered'`
  return row.left
}
while ((await unfinished()) > 0 && Date.now() < deadline) {
  await skipPauses()
  await delay(1000)
}

const byDelivery = new Map<string, Receipt[]>()
for (const receipt of stack.receipts) {
  byDelivery.set(receipt.delivery, [...(byDelivery.get(receipt.delivery) ?? []), receipt])
}
const lost = [...accepted].filter((one) => !byDelivery.get(one)?.some(({ status }) => status === 200))
const doubled = [...byDelivery.values()].filter((all) => all.filter(({ status }) => status === 200).length > 1)
const unmarked = [...byDelivery.values()].filter((all) => new Set(all.map(({ attempt }) => attempt)).size < all.length)
const sorted = acceptMs.toSorted((one, other) => one - other)
const [p50, p99] = [0.5, 0.99].map((share) => Math.round(sorted[Math.floor(sorted.length * share)] ?? 0))
const figures = {
  accepted: accepted.size,
  sent,
  killed,
  lost: lost.length,
  doubled: doubled.length,
  unmarked: unmarked.length,
}
process.stdout.write(`${JSON.stringify({ ...figures, unfinished: await unfinished(), accept_ms: { p50, p99 } })}\n`)
process.exitCode = lost.length + unmarked.length === 0 ? 0 : 1
