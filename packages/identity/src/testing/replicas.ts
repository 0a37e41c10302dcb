import { randomBytes } from 'node:crypto'
import { connect } from '@keelson/database'
import type { ApiError, HeaderReader } from '@keelson/service-kit'
import { eventually, testDatabase } from '@keelson/testing'
import { expect } from 'vitest'
import { authenticator, type Authenticator, type AuthenticatorOptions, type Refusal } from '../authenticator.ts'
import { identityStore } from '../identity-store.ts'

export const present = (key: string): Headers => new Headers({ 'x-api-key': key })

/** `accepted`, or the code of the error. */
export const outcomeOf = (attempt: Promise<unknown>): Promise<string> =>
  attempt.then(
    () => 'accepted',
    (error: ApiError) => error.code,
  )

export const tryKey = ({ authenticate }: Pick<Authenticator, 'authenticate'>, key: string): Promise<string> =>
  outcomeOf((async () => authenticate(present(key)))())

/** A database with one account and one user, and replicas of a service that authenticates against it. */
export const replicas = async () => {
  await using stack = new AsyncDisposableStack()
  const { db, url } = stack.use(await testDatabase())
  const pepper = randomBytes(32)
  const store = identityStore(db, pepper)
  const { account_id } = await store.createAccount('replicas')
  const { id: identity_id } = await store.createIdentity({ account_id, type: 'user', name: 'ada' })

  const listeners = (applicationName: string) =>
    db.sql<{ pid: number }[]>`
      select pid from pg_stat_activity
      where application_name = ${applicationName} and query ~ '^(listen|unlisten|select 1)'`

  const owned = stack.move()

  /** Has a pool of its own, as another process has, and hears announcements. */
  const start = async (options: Partial<AuthenticatorOptions> = {}, through = url) => {
    const name = `replica ${randomBytes(4).toString('hex')}`
    const own = owned.use(connect({ url: through, applicationName: name }))
    const refusals: Refusal[] = []
    const onRefused = (refusal: Refusal) => void refusals.push(refusal)
    const made = owned.use(authenticator({ db: own, pepper, header: 'x-api-key', onRefused, ...options }))
    await eventually(async () => expect(await listeners(name)).toHaveLength(1))
    const authenticate = async (headers: HeaderReader, address?: string) => made.authenticate(headers, address)
    return { authenticate, accountOf: made.accountOf, refusals, name, db: own }
  }

  return {
    db,
    url,
    pepper,
    store,
    account_id,
    identity_id,
    start,
    listeners,
    issue: (request = {}) =>
      store.issueKey({
        account_id,
        identity_id,
        ...request,
      }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
