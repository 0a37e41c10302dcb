import { z } from '@hono/zod-openapi'

export const IdentityType = z
  .enum(['user', 'service_account'])
  .openapi('IdentityType', { description: 'What kind of identity created an object' })
