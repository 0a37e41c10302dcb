import { ERRORS } from '@keelson/contracts'
import { createClient, type RawAnswer } from '@keelson/contracts/client'
import type { Route } from '@keelson/contracts'
import type { Database } from '@keelson/database'
import type { TestAccount } from '../test-account.ts'
import { accountState } from './account-state.ts'
import { keyHeaders, refusedActors, twoAccounts, type Service } from './actors.ts'
import type { Caller, Fixtures, NamedRequest } from './fixture.ts'

export type MatrixOptions = {
  service: Service
  routes: readonly Route[]
  fixtures: Fixtures
  fetch: (request: Request) => Promise<Response>
  /** Sees every account. */
  db: Database
}

export type Matrix = {
  /** What is wrong with one operation, in words; empty when nothing is. */
  refusals: (operationId: string) => Promise<string[]>
  isolation: (operationId: string) => Promise<string[]>
}

const REQUEST_ID = { 'x-request-id': 'isolation' }

/** What varies between two equal answers: names the request gave, ids and keys made on the way, times. */
const comparable = ({ status, text }: RawAnswer, ids: readonly string[]): string => {
  if (status >= 400) return `${status} ${text}`
  const plain = ids.reduce((rest, id) => rest.replaceAll(id, '<named>'), text)
  const known = plain
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, '<uuid>')
    .replaceAll(/\b(cred|model|deploy|user|key)_[0-9a-z]{26}\b/g, '<id>')
  return `${status} ${known.replaceAll(/\b(klagent|whsec)_[\w+/=]+|\b[\da-f]{64}\b/g, '<key>')}`
}

/** The generated matrix over the operations of one service: every caller x every object. */
export const isolationMatrix = async (options: MatrixOptions): Promise<Matrix> => {
  const { service, routes, fixtures, fetch, db } = options
  const { owner, stranger } = await twoAccounts(db)
  const refusedFor = await refusedActors(db, service, owner)
  const routeOf = (operationId: string): Route => {
    const route = routes.find((known) => known.operationId === operationId)
    if (!route) throw new Error(`${operationId} is no operation of ${service}`)
    return route
  }
  const send = (route: Route, { ids: _ids, ...request }: NamedRequest, headers: Record<string, string>) =>
    createClient([], { fetch, headers: { ...REQUEST_ID, ...headers } }).raw(route, request)
  const as = ({ token }: TestAccount) => keyHeaders(service, token)

  const callAs =
    (account: TestAccount): Caller =>
    async (operationId, request = {}) => {
      const { status, text } = await send(routeOf(operationId), { ...request, ids: [] }, as(account))
      if (status >= 300) throw new Error(`${operationId} for a fixture: ${status} ${text}`)
      return (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>
    }

  let count = 0
  const labelOf = (operationId: string) => `${operationId.toLowerCase()}-${++count}`
  const fixtureOf = (operationId: string) => {
    const fixture = fixtures[operationId]
    if (!fixture) throw new Error(`${operationId} has no fixture for the isolation matrix`)
    return fixture
  }

  const refusals = async (operationId: string): Promise<string[]> => {
    const [route, fixture, label] = [routeOf(operationId), fixtureOf(operationId), labelOf(operationId)]
    const objects: Record<string, NamedRequest> = {
      own: await fixture.own(callAs(owner), label),
      foreign: await fixture.own(callAs(stranger), `${label}-foreign`),
      ...(fixture.missing && { missing: fixture.missing(label) }),
    }
    const before = [await accountState(db, owner.account_id), await accountState(db, stranger.account_id)]
    const wrong: string[] = []
    const bodies = new Map<string, Set<string>>()
    for (const { actor, headers, code } of await refusedFor(route.scope)) {
      for (const [object, request] of Object.entries(objects)) {
        const { status, text } = await send(route, request, headers)
        if (status !== ERRORS[code].status || !text.includes(`"code":"${code}"`)) {
          wrong.push(`${operationId}, ${actor}, ${object} object: ${status} ${text}`)
        }
        bodies.set(code, (bodies.get(code) ?? new Set()).add(text))
      }
    }
    for (const [code, texts] of bodies)
      if (texts.size > 1) wrong.push(`${operationId}: ${code} is told in ${texts.size} ways`)
    const after = [await accountState(db, owner.account_id), await accountState(db, stranger.account_id)]
    if (before.join() !== after.join()) wrong.push(`${operationId}: a refused caller changed something`)
    return wrong
  }

  const isolation = async (operationId: string): Promise<string[]> => {
    const [route, fixture, label] = [routeOf(operationId), fixtureOf(operationId), labelOf(operationId)]
    const request = await fixture.own(callAs(owner), label)
    const wrong: string[] = []
    const before = await accountState(db, owner.account_id)
    const foreign = await send(route, request, as(stranger))
    if ((await accountState(db, owner.account_id)) !== before)
      wrong.push(`${operationId}: a stranger changed something`)
    const asked = JSON.stringify(request)
    const told = request.ids.filter(
      (id) =>
        foreign.status < 300 && !JSON.stringify({ ...request, ids: [] }).includes(id) && foreign.text.includes(id),
    )
    if (told.length > 0) wrong.push(`${operationId}: a stranger is told ${told.join(', ')} after ${asked}`)
    if (fixture.missing) {
      const none = fixture.missing(label)
      const missing = await send(route, none, as(stranger))
      const [one, other] = [comparable(foreign, request.ids), comparable(missing, none.ids)]
      if (one !== other) wrong.push(`${operationId}: a foreign object answers ${one}, a missing one ${other}`)
    }
    const own = await send(route, request, as(owner))
    const isControl = !fixture.guardedBy || fixture.missing
    if (isControl && own.status >= 300) wrong.push(`${operationId}: the owner gets ${own.status} ${own.text}`)
    return wrong
  }
  return { refusals, isolation }
}
