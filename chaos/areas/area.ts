import { setTimeout as delay } from 'node:timers/promises'
import type { Account, Client, Request } from '../client.ts'
import type { AreaName, Call, History } from '../history.ts'
import type { Random } from '../random.ts'
import type { Stack } from '../stack/stack.ts'

export type Context = {
  stack: Stack
  history: History
  client: Client
  /** A stream of draws for this name. */
  random: (name: string) => Random
  /** Fires when no new story begins. */
  stopping: AbortSignal
}

/** One area under load. */
export type Area = {
  /** Resolves when every client has ended its story. */
  ended: Promise<unknown>
  /** How much that was accepted is still under way. */
  pending: () => Promise<number>
  /** Reports to the history what is not as it was acknowledged. */
  check: () => Promise<void>
}

export type StartArea = (context: Context) => Promise<Area>

const PAUSE_MS = 60

export type Said = { operation: string; target: string; write?: boolean; input?: unknown }
export type Ask = (method: Request['method'], path: string, said: Said, body?: string | object) => Promise<Call>

/** Calls of one account to one service, each recorded; after one without an ok there is a short pause. */
export const asker = ({ client, stack }: Context, area: AreaName, account: Account): Ask => {
  const isPlatform = area === 'credentials' || area === 'models'
  const base = isPlatform ? stack.platformUrl : stack.agentApiUrl
  const key: Record<string, string> = isPlatform
    ? { 'x-api-key': account.api_key }
    : { authorization: `Bearer ${account.api_key}` }
  return async (method, path, { write = true, ...said }, body) => {
    const headers = { ...key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
    const text = typeof body === 'object' ? JSON.stringify(body) : body
    const request = { method, url: base + path, headers, ...(text === undefined ? {} : { body: text }) }
    const call = await client(account, request, { area, write, ...said })
    if (call.outcome !== 'ok') await delay(PAUSE_MS)
    return call
  }
}

export const isOk = ({ outcome }: Call): boolean => outcome === 'ok'

/** What `attempt` comes to when it is not unknown any more; `null` when the run ends first. */
export const untilKnown = async (stopping: AbortSignal, attempt: () => Promise<Call>): Promise<Call | null> => {
  while (!stopping.aborted) {
    const call = await attempt()
    if (call.outcome !== 'unknown') return call
  }
  return null
}

/** Reads an object of one account with the key of the other, which must not find it. */
export const trespass = async (
  context: Context,
  area: AreaName,
  owner: Account,
  [method, path]: [method: 'GET' | 'POST', path: string],
): Promise<void> => {
  const stranger = context.stack.accounts.find(({ account_id }) => account_id !== owner.account_id)!
  const said = { operation: 'trespass', target: path, write: false }
  if (isOk(await asker(context, area, stranger)(method, path, said)))
    context.history.violate('foreign', area, `${method} ${path} answered another account`)
}

const INSIST = 20

/** The ok of a read when no fault strikes any more. @throws when there is none */
export const insist = async (read: () => Promise<Call>): Promise<Call> => {
  for (let attempt = 1; attempt < INSIST; attempt += 1) {
    const call = await read()
    if (call.outcome !== 'unknown') return call
  }
  throw new Error(`After ${INSIST} tries nobody knows: ${JSON.stringify(await read())}`)
}

/** Calls `work` for each item, some at a time. */
export const forEach = async <Item>(items: Iterable<Item>, work: (item: Item) => Promise<unknown>): Promise<void> => {
  const queue = [...items].values()
  const lane = async () => {
    for (const item of queue) await work(item)
  }
  await Promise.all(Array.from({ length: 8 }, lane))
}

/** Runs stories one after the other on so many lanes for each account until the run ends. */
export const tellStories = (
  { stack, stopping }: Context,
  lanes: number,
  tell: (account: Account, name: string) => Promise<void>,
): Promise<unknown> => {
  const lane = async (account: Account, number: number) => {
    for (let story = 0; !stopping.aborted; story += 1) await tell(account, `${number}-${story}`)
  }
  return Promise.all(
    stack.accounts.flatMap((account) => Array.from({ length: lanes }, (_, number) => lane(account, number))),
  )
}

/** Groups calls by account and target. */
export const byTarget = (calls: readonly Call[]): Map<string, Call[]> =>
  Map.groupBy(calls, ({ account, target }) => `${account} ${target}`)
