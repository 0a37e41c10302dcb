import { agentRoutes } from '@keelson/contracts/agent'
import { expect, test } from 'vitest'
import { agentConfig, bodyLimits } from './config.ts'

const limitsWith = (env: Record<string, string>) =>
  bodyLimits(agentConfig({ DATABASE_URL: 'postgres://127.0.0.1/keelson', ...env }))

test('bodies may weigh what the contract says, unless operators set something else', () => {
  const { forwardPost, ...limits } = limitsWith({})
  const said = agentRoutes.map(({ operationId, bodyLimitBytes }) => [operationId, bodyLimitBytes] as const)
  expect(Object.fromEntries(said)).toMatchObject(limits)
  expect(forwardPost).toBe(26_214_400)
  expect(limitsWith({ MAX_SPAN_BYTES: '2048' })).toMatchObject({ createSpan: 2048, updateSpan: 2048 })
})
