import { platformRoutes } from '@keelson/contracts/platform'
import { expect, test } from 'vitest'
import { bodyLimits, platformConfig } from './config.ts'

const limitsWith = (env: Record<string, string>) =>
  bodyLimits(platformConfig({ DATABASE_URL: 'postgres://127.0.0.1/keelson', ...env }))

test('bodies may weigh what the contract says, unless operators set something else', () => {
  const said = platformRoutes.map(({ operationId, bodyLimitBytes }) => [operationId, bodyLimitBytes] as const)
  expect(Object.fromEntries(said)).toMatchObject(limitsWith({}))
  expect(limitsWith({ MAX_REQUEST_BYTES: '2048' })).toMatchObject({ createModel: 2048, updateCredential: 2048 })
})
