import type { Route } from '@keelson/contracts'
import { forward } from '@keelson/contracts/agent'
import { createClient, type RawAnswer, type RawRequest } from '@keelson/contracts/client'
import type { Database } from '@keelson/database'
import type { TestAccount } from '../test-account.ts'
import { keyHeaders, twoAccounts, type Service } from './actors.ts'
import type { Caller, Fixtures, NamedRequest, OperationFixture } from './fixture.ts'

export type MatrixOptions = {
  service: Service
  routes: readonly Route[]
  fixtures: Fixtures
  fetch: (request: Request) => Promise<Response>
  /** Sees every account. */
  db: Database
  /** Whose objects, and who asks about them; made when left out. */
  accounts?: { owner: TestAccount; stranger: TestAccount }
}

/** One operation about to be asked: its route, its fixture, and a label of its own for what the fixture makes. */
export type Subject = { route: Route; fixture: OperationFixture; label: string }

type Asked = NamedRequest & Pick<RawRequest, 'headers'>

/** Two accounts and a way to call a service as either. */
export type World = {
  db: Database
  service: Service
  owner: TestAccount
  stranger: TestAccount
  subject: (operationId: string) => Subject
  send: (route: Route, request: Asked, headers: Record<string, string>) => Promise<RawAnswer>
  sendAs: (account: TestAccount, route: Route, request: Asked) => Promise<RawAnswer>
  callAs: (account: TestAccount) => Caller
}

/** The same on every request, so that two equal problems are equal to the byte. */
const REQUEST_ID = { 'x-request-id': 'isolation' }

export const openWorld = async (options: MatrixOptions): Promise<World> => {
  const { service, routes, fixtures, fetch, db } = options
  const { owner, stranger } = options.accounts ?? (await twoAccounts(db))
  let count = 0

  const routeOf = (operationId: string): Route => {
    // The ingress is no route of the client's; fixtures bring deliveries in through it.
    const route = [...routes, ...Object.values(forward)].find((known) => known.operationId === operationId)
    if (!route) throw new Error(`${operationId} is no operation of ${service}`)
    return route as Route
  }
  const subject = (operationId: string): Subject => {
    const fixture = fixtures[operationId]
    if (!fixture) throw new Error(`${operationId} has no fixture for the isolation matrix`)
    return { route: routeOf(operationId), fixture, label: `${operationId.toLowerCase()}-${++count}` }
  }
  const send: World['send'] = (route, { ids: _ids, ...request }, headers) =>
    createClient([], { fetch, headers: { ...REQUEST_ID, ...headers } }).raw(route, request)
  const sendAs: World['sendAs'] = ({ token }, route, request) => send(route, request, keyHeaders(service, token))

  const callAs: World['callAs'] =
    (account) =>
    async (operationId, request = {}) => {
      const { status, text } = await sendAs(account, routeOf(operationId), { ...request, ids: [] })
      if (status >= 300) throw new Error(`${operationId} for a fixture: ${status} ${text}`)
      return (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>
    }
  return { db, service, owner, stranger, subject, send, sendAs, callAs }
}
