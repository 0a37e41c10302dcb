import { KeelsonSaver } from '@keelson/langgraph-checkpoint'
import { listen } from '@keelson/service-kit'
import * as vitest from 'vitest'
import { testApp } from '../test-app.fixture.ts'

// The suite is written for runners that put these on the global object.
const { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } = vitest
Object.assign(globalThis, { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test })
const { deltaChannelHistoryTests, specTest } = await import('@langchain/langgraph-checkpoint-validation')

const app = await testApp()
const server = await listen(app.service, { host: '127.0.0.1', port: 0, metricsPort: 0, drainMs: 1000 })
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await app[Symbol.asyncDispose]()
})

// LangGraph's own suite for checkpointers, over HTTP; every saver has an account of its own.
const initializer = {
  checkpointerName: '@keelson/langgraph-checkpoint',
  createCheckpointer: async () => new KeelsonSaver({ baseUrl: server.url, apiKey: (await app.client()).token }),
  destroyCheckpointer: (saver: KeelsonSaver) => saver.close(),
}
specTest(initializer)
deltaChannelHistoryTests(initializer)
