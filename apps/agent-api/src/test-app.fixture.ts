import { createClient } from '@keelson/contracts/client'
import { agentRoutes } from '@keelson/contracts/agent'
import { authenticator } from '@keelson/identity'
import { createLogger, createMetrics } from '@keelson/service-kit'
import { TEST_PEPPER, testAccount, testDatabase } from '@keelson/testing'
import { createApp } from './app.ts'
import { spanWriter } from './spans/span-writer.ts'

/** agent-api in memory on a database of its own. */
export const testApp = async () => {
  const stack = new AsyncDisposableStack()
  const { db, url } = stack.use(await testDatabase())
  const { authenticate } = stack.use(authenticator({ db, pepper: TEST_PEPPER, header: 'authorization' }))
  const writer = spanWriter(db)
  stack.defer(writer.drain)
  const log = createLogger({ service: 'agent-api', level: 'fatal' })
  const service = createApp({ db, spanWriter: writer, authenticate, log, metrics: createMetrics() })

  /** A client of an account of its own. */
  const client = async () => {
    const account = await testAccount(db)
    const headers = { authorization: `Bearer ${account.token}` }
    return { ...account, headers, ...createClient(agentRoutes, { fetch: service.fetch, headers }) }
  }
  return { db, url, service, client, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}
