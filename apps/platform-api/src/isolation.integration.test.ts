import document from '@keelson/contracts/openapi/platform-api.json' with { type: 'json' }
import { platformRoutes } from '@keelson/contracts/platform'
import { createMetrics } from '@keelson/service-kit'
import { isolationMatrix, operationsOf, platformFixtures, withoutAccountConditions } from '@keelson/testing'
import { afterAll, expect, test } from 'vitest'
import { createApp } from './app.ts'
import { testApp } from './test-app.fixture.ts'

const app = await testApp()
afterAll(() => app[Symbol.asyncDispose]())
const options = { service: 'platform-api', routes: platformRoutes, fixtures: platformFixtures, db: app.db } as const
const matrix = await isolationMatrix({ ...options, fetch: app.service.fetch })

let removed = 0
const faulty = createApp({
  ...app,
  metrics: createMetrics(),
  db: withoutAccountConditions(app.db, () => (removed += 1)),
})
const faultyMatrix = await isolationMatrix({ ...options, fetch: faulty.fetch })

const operations = operationsOf(document)

test('every operation of the document has a fixture', () => {
  expect(Object.keys(platformFixtures).toSorted()).toEqual(operations.toSorted())
})

test.each(operations)('%s answers every wrong caller alike, whatever they ask about', async (operationId) => {
  expect(await matrix.refusals(operationId)).toEqual([])
})

test.each(operations)('%s tells a stranger nothing and changes nothing of the owner', async (operationId) => {
  expect(await matrix.isolation(operationId)).toEqual([])
})

const guarded = operations.filter((operationId) => platformFixtures[operationId]?.guardedBy === undefined)
test.each(guarded)('%s without its conditions on the account is caught', async (operationId) => {
  removed = 0
  const wrong = await faultyMatrix.isolation(operationId)
  expect(removed).toBeGreaterThan(0)
  expect(wrong).not.toEqual([])
})
