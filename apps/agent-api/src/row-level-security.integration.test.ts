import document from '@keelson/contracts/openapi/agent-api.json' with { type: 'json' }
import { agentRoutes } from '@keelson/contracts/agent'
import { createMetrics } from '@keelson/service-kit'
import {
  bindEveryTable,
  boundDatabase,
  isolationMatrix,
  operationsOf,
  agentFixtures,
  twoAccounts,
  type TestAccount,
} from '@keelson/testing'
import { afterAll, expect, test } from 'vitest'
import { createApp } from './app.ts'
import { testApp } from './test-app.fixture.ts'

const stack = new AsyncDisposableStack()
afterAll(() => stack.disposeAsync())
const app = stack.use(await testApp())
const role = stack.use(await bindEveryTable(app.db, app.url))
const accounts = await twoAccounts(app.db)

const serviceOf = ({ account_id }: TestAccount) =>
  createApp({ ...app, metrics: createMetrics(), db: stack.use(boundDatabase(role, account_id)) })
const services = new Map(Object.values(accounts).map((account) => [account.token, serviceOf(account)]))
/** The ingress looks across accounts, as the service role. */
const serviceFor = (request: Request) =>
  services.get(request.headers.get('authorization')?.slice(7) ?? '') ?? app.service
const fetch = (request: Request) => serviceFor(request).fetch(request)

const matrix = await isolationMatrix({
  service: 'agent-api',
  routes: agentRoutes,
  fixtures: agentFixtures,
  db: app.db,
  accounts,
  fetch,
})

test.each(operationsOf(document))('%s answers the same with every table bound to the account', async (operationId) => {
  expect(await matrix.isolation(operationId)).toEqual([])
})
