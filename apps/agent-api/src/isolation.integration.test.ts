import document from '@keelson/contracts/openapi/agent-api.json' with { type: 'json' }
import { agentRoutes } from '@keelson/contracts/agent'
import type { Database } from '@keelson/database'
import { createMetrics } from '@keelson/service-kit'
import {
  asAnotherAccount,
  isolationMatrix,
  operationsOf,
  agentFixtures,
  removeSecondWalls,
  twoAccounts,
  withoutAccountConditions,
  type TestAccount,
} from '@keelson/testing'
import { afterAll, expect, test } from 'vitest'
import { createApp } from './app.ts'
import { checkpointWriter } from './checkpoints/checkpoint-writer.ts'
import { spanWriter } from './spans/span-writer.ts'
import { testApp } from './test-app.fixture.ts'

type Accounts = { owner: TestAccount; stranger: TestAccount }

const app = await testApp()
afterAll(() => app[Symbol.asyncDispose]())
const options = { service: 'agent-api', routes: agentRoutes, fixtures: agentFixtures, db: app.db } as const
const matrix = await isolationMatrix({ ...options, fetch: app.service.fetch })

/** The service on a database of its own, with a fault in every statement. */
const faultyMatrix = async (faulty: (db: Database, accounts: Accounts) => Database) => {
  const own = await testApp()
  afterAll(() => own[Symbol.asyncDispose]())
  await removeSecondWalls(own.db)
  const accounts = await twoAccounts(own.db)
  const db = faulty(own.db, accounts)
  const service = createApp({
    ...own,
    metrics: createMetrics(),
    db,
    spanWriter: spanWriter(db),
    checkpointWriter: checkpointWriter(db),
  })
  return isolationMatrix({ ...options, db: own.db, accounts, fetch: service.fetch })
}
let removed = 0
const unconditional = await faultyMatrix((db) => withoutAccountConditions(db, () => (removed += 1)))
const swapped = await faultyMatrix((db, { owner, stranger }) =>
  asAnotherAccount(db, stranger.account_id, owner.account_id),
)

const operations = operationsOf(document)

test('every operation of the document has a fixture', () => {
  expect(Object.keys(agentFixtures).toSorted()).toEqual(operations.toSorted())
})

test.each(operations)('%s answers every wrong caller alike, whatever they ask about', async (operationId) => {
  expect(await matrix.refusals(operationId)).toEqual([])
})

test.each(operations)('%s tells a stranger nothing and changes nothing of the owner', async (operationId) => {
  expect(await matrix.isolation(operationId)).toEqual([])
})

/** What shows the fault; that the owner is refused as well would only show that something broke. */
const caughtBy = (wrong: string[]) => wrong.filter((what) => !what.startsWith('the owner gets'))

test.each(operations)('%s with the account of somebody else in its statements is caught', async (operationId) => {
  expect(caughtBy(await swapped.isolation(operationId))).not.toEqual([])
})

test.for(operations)('%s without its conditions on the account is caught', async (operationId, { skip }) => {
  removed = 0
  const caught = caughtBy(await unconditional.isolation(operationId))
  skip(removed === 0, 'its statements only insert; the test above swaps their account')
  expect(caught).not.toEqual([])
})
