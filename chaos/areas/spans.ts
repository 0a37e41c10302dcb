import type { Account } from '../client.ts'
import { asker, isOk, tellStories, untilKnown, type Ask, type Context, type StartArea } from './area.ts'

/** What a span was acknowledged with, as JSON text. */
type Facts = { input: string; output: string | null }

const LANES = 5
const BATCH = 5

const inputOf = ({ canary }: Account, id: string) =>
  `{"of":"${canary}","id":"${id}","exact":1.0,"text":"${'x'.repeat(300)}"}`
const outputOf = ({ canary }: Account, id: string) => `{"of":"${canary}","done":"${id}"}`
const spanOf = (account: Account, id: string) =>
  `{"id":"${id}","trace_id":"trace","name":"n","start_time":"2026-01-01T00:00:00.000001Z","input":${inputOf(account, id)}}`

/** What is stored of an account and is not as it was acknowledged, or is somebody else's. */
const checkAccount = async (
  { stack, history }: Context,
  account: Account,
  acknowledged: ReadonlyMap<string, Facts>,
) => {
  const rows = await stack.db.sql<{ id: string; input: string; output: string | null }[]>`
    select id, input, output from agent.spans where account_id = ${account.account_id}`
  const stored = new Map(rows.map((row) => [row.id, row]))
  for (const [id, { input, output }] of acknowledged) {
    const row = stored.get(id)
    if (!row) history.violate('lost', 'spans', `${id} of ${account.canary} was acknowledged and is missing`)
    else if (row.input !== input || (output !== null && row.output !== output))
      history.violate('lost', 'spans', `${id} of ${account.canary} is not as it was acknowledged`)
  }
  for (const { id, input } of rows) {
    if (!input.includes(account.canary)) history.violate('foreign', 'spans', `${id} of ${account.canary}: ${input}`)
  }
}

type Story = { context: Context; account: Account; ask: Ask; acknowledged: Map<string, Facts> }

/** A span alone, completed by a patch; each is sent again until it is acknowledged, and read back. */
const tellAlone = async ({ context, account, ask, acknowledged }: Story, id: string): Promise<void> => {
  const { stopping, history } = context
  const create = () => ask('POST', '/spans', { operation: 'create', target: id }, spanOf(account, id))
  if ((await untilKnown(stopping, create))?.outcome !== 'ok') return
  const facts: Facts = { input: inputOf(account, id), output: null }
  acknowledged.set(id, facts)
  const patch = `{"output":${outputOf(account, id)},"end_time":"2026-01-02T00:00:00Z"}`
  const change = () => ask('PATCH', `/spans/${id}`, { operation: 'patch', target: id }, patch)
  if ((await untilKnown(stopping, change))?.outcome === 'ok') facts.output = outputOf(account, id)
  const read = await ask('GET', `/spans/${id}`, { operation: 'read', target: id, write: false })
  if (read.status === 404) history.violate('lost', 'spans', `${id} was acknowledged and answered 404`)
}

/** A batch, sent once. */
const tellBatch = async ({ account, ask, acknowledged }: Story, id: string): Promise<void> => {
  const ids = Array.from({ length: BATCH }, (_, index) => `${id}-${index}`)
  const body = `{"spans":[${ids.map((one) => spanOf(account, one)).join(',')}]}`
  const call = await ask('POST', '/spans/batch', { operation: 'batch', target: id }, body)
  if (!isOk(call)) return
  const { results } = JSON.parse(call.text) as { results: { id: string; status: number }[] }
  for (const result of results) {
    if (result.status === 200) acknowledged.set(result.id, { input: inputOf(account, result.id), output: null })
  }
}

export const startSpans: StartArea = async (context) => {
  const stories = new Map(
    context.stack.accounts.map((account) => [
      account,
      { context, account, ask: asker(context, 'spans', account), acknowledged: new Map<string, Facts>() },
    ]),
  )
  const random = context.random('spans')
  const ended = tellStories(context, LANES, (account, name) =>
    (random.chance(0.3) ? tellBatch : tellAlone)(stories.get(account)!, `span-${name}`),
  )
  return {
    ended,
    pending: () => Promise.resolve(0),
    check: async () => {
      for (const { account, acknowledged } of stories.values()) await checkAccount(context, account, acknowledged)
    },
  }
}
