import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { bodyBudget } from './body-budget.ts'
import type { Crowd } from './crowd.ts'
import { doorkeeper } from './door.ts'
import { loadGuard } from './load.ts'
import { createMetrics } from './metrics.ts'

test('where there is no room for whoever comes, the account that a key is known of decides; probes always come in', () => {
  const crowd = { admits: (accountOf: () => string | null) => accountOf() === 'quiet' } as Crowd
  const turnAway = doorkeeper({
    crowd,
    bodies: bodyBudget(1, () => {}),
    load: loadGuard({ maxInFlight: 10, maxEventLoopDelayMs: 100 }),
    metrics: createMetrics(),
    accountOf: (headers) => headers.get('x-api-key'),
    record: () => {},
    isDraining: () => false,
  })
  const isTurnedAway = (url: string, account_id: string) =>
    turnAway(
      { url, headers: { 'x-api-key': account_id }, complete: true } as unknown as IncomingMessage,
      { writeHead: () => {}, end: () => {} } as unknown as ServerResponse,
    )
  expect([isTurnedAway('/a', 'quiet'), isTurnedAway('/a', 'busy'), isTurnedAway('/healthz', 'busy')]).toEqual([
    false,
    true,
    false,
  ])
})
