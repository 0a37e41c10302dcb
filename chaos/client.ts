import type { AreaName, Call, History, Outcome } from './history.ts'

/** One of the accounts that do the same under the same names; nobody may ever see the other's canary. */
export type Account = { account_id: string; api_key: string; canary: string; foreignCanary: string }

export type Request = {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  url: string
  headers: Record<string, string>
  body?: string
}

/** What a call is recorded as. */
export type About = Pick<Call, 'area' | 'operation' | 'target' | 'write'> & { input?: unknown }

const PATIENCE_MS = 6_000
/** What a service may answer while everything around it dies; all else is a defect. */
const EXPECTED = new Set([404, 409, 429, 502, 503])

const REGISTERS: ReadonlySet<AreaName> = new Set(['credentials', 'models'])

const outcomeOf = (status: number | null): Outcome => {
  if (status === null || status >= 500) return 'unknown'
  return status < 300 ? 'ok' : 'failed'
}

const send = async ({ method, url, headers, body }: Request) => {
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS)
    const answer = await fetch(url, { method, headers, signal, ...(body === undefined ? {} : { body }) })
    return { status: answer.status, text: await answer.text() }
  } catch {
    return { status: null, text: '' }
  }
}

const inspect = (history: History, account: Account, area: AreaName, call: Call): void => {
  const { status, text, operation, target } = call
  if (text.includes(account.foreignCanary)) {
    history.violate('foreign', area, `${operation} ${target} of ${account.canary} answered ${text}`)
  }
  if (status !== null && status >= 300 && !EXPECTED.has(status)) {
    history.violate('unexpected', area, `${operation} ${target} answered ${status} ${text}`)
  }
}

/** Sends requests and writes every one down with its outcome. */
export const recordingClient =
  (history: History) =>
  async (account: Account, request: Request, { input, ...about }: About): Promise<Call> => {
    const startedMs = performance.now()
    const { status, text } = await send(request)
    const endedMs = performance.now()
    const outcome = outcomeOf(status)
    const call = { ...about, account: account.canary, input, startedMs, endedMs, outcome, status, text }
    // Half an hour of answers would not fit; only what was read of registers is asked for again.
    history.calls.push(REGISTERS.has(about.area) && !about.write ? call : { ...call, text: '' })
    inspect(history, account, about.area, call)
    return call
  }

export type Client = ReturnType<typeof recordingClient>
