import { setTimeout as delay } from 'node:timers/promises'
import type { CrashStack } from './crash.ts'

/** What a span was acknowledged with, as JSON text; one with an output was completed as well. */
type Facts = { input: string; output?: string }

export type Tally = { spans: number; statuses: Record<string, number>; problems: string[] }

const BATCH = 5
const EXPECTED = new Set([200, 503])

const inputOf = (id: string) => `{"id":"${id}","exact":1.0,"text":"${id.repeat(20)}"}`
const spanOf = (id: string) =>
  `{"id":"${id}","trace_id":"crash","name":"n","start_time":"2026-01-01T00:00:00.000001Z","input":${inputOf(id)}}`

/** What was acknowledged and is not stored as it was. */
const lostOf = async ({ db, account_id }: CrashStack, acknowledged: ReadonlyMap<string, Facts>): Promise<string[]> => {
  const rows = await db.sql<{ id: string; input: string; output: string | null; whole: boolean; ended: boolean }[]>`
    select id, input, output, end_time is not distinct from '2026-01-02T00:00:00Z' as ended, name = 'n' and trace_id = 'crash' and start_time = '2026-01-01T00:00:00.000001Z' as whole
    from agent.spans where account_id = ${account_id}`
  const stored = new Map(rows.map((row) => [row.id, row]))
  return [...acknowledged].flatMap(([id, { input, output }]) => {
    const row = stored.get(id)
    if (!row) return [`${id} was acknowledged and is missing`]
    const isComplete = row.ended && row.output === output
    const isWhole = row.whole && row.input === input && (output === undefined || isComplete)
    return isWhole ? [] : [`${id} is not as it was acknowledged`]
  })
}

/** Sends a request and tells the text of its 200; anything else is counted, and unexpected answers are problems. */
const senderOf =
  ({ url, api_key }: CrashStack, tally: Tally) =>
  async (method: string, path: string, body: string): Promise<string | null> => {
    const headers = { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' }
    const request = { method, headers, body, signal: AbortSignal.timeout(30_000) }
    const answer = await fetch(url + path, request).catch(() => null)
    const text = (await answer?.text().catch(() => null)) ?? null
    const outcome = answer === null || text === null ? 'broken' : answer.status
    tally.statuses[outcome] = (tally.statuses[outcome] ?? 0) + 1
    if (typeof outcome === 'number' && !EXPECTED.has(outcome))
      tally.problems.push(`${method} ${path}: ${outcome} ${text}`)
    if (outcome === 200) return text
    await delay(20)
    return null
  }

/**
 * Clients that write spans one after the other, alone, in batches and with a patch that completes them, and send again
 * whatever was not acknowledged, until told to stop.
 */
export const startClients = (stack: CrashStack, clients: number) => {
  const acknowledged = new Map<string, Facts>()
  const tally: Tally = { spans: 0, statuses: {}, problems: [] }
  const stopping = new AbortController()
  let made = 0

  const send = senderOf(stack, tally)

  const untilAcknowledged = async (method: string, path: string, body: string): Promise<boolean> => {
    while (!stopping.signal.aborted) if ((await send(method, path, body)) !== null) return true
    return false
  }

  const createAlone = async (id: string): Promise<void> => {
    if (!(await untilAcknowledged('POST', '/spans', spanOf(id)))) return
    acknowledged.set(id, { input: inputOf(id) })
    const output = `{"done":"${id}"}`
    if (await untilAcknowledged('PATCH', `/spans/${id}`, `{"output":${output},"end_time":"2026-01-02T00:00:00Z"}`))
      acknowledged.set(id, { input: inputOf(id), output })
  }

  const createBatch = async (id: string): Promise<void> => {
    const ids = Array.from({ length: BATCH }, (_, index) => `${id}-${index}`)
    const text = await send('POST', '/spans/batch', `{"spans":[${ids.map(spanOf).join(',')}]}`)
    if (text === null) return
    const { results } = JSON.parse(text) as { results: { id: string; status: number }[] }
    for (const { id, status } of results) {
      if (status === 200) acknowledged.set(id, { input: inputOf(id) })
      else if (!EXPECTED.has(status)) tally.problems.push(`an item of a batch: ${status}`)
    }
  }

  const client = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      made += 1
      await (made % 3 === 0 ? createBatch : createAlone)(`span-${made}`)
    }
  }
  const running = Promise.all(Array.from({ length: clients }, client))

  return {
    acknowledgedCount: () => acknowledged.size,
    /** How many answers of each status there were so far. */
    statuses: (): Readonly<Tally['statuses']> => tally.statuses,
    /** Ends the clients and tells what was lost. */
    finish: async (): Promise<Tally> => {
      stopping.abort()
      await running
      const lost = await lostOf(stack, acknowledged)
      return { ...tally, spans: acknowledged.size, problems: [...tally.problems, ...lost] }
    },
  }
}
