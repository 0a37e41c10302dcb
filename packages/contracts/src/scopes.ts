/** What an API key may be allowed to do; a key without a list has them all. */
export const SCOPES = [
  'credentials:read',
  'credentials:reveal',
  'credentials:write',
  'credentials:delete',
  'models:read',
  'models:write',
  'models:delete',
  'spans:read',
  'spans:write',
  'checkpoints:read',
  'checkpoints:write',
  'checkpoints:delete',
  'agents:read',
  'agents:write',
  'agents:delete',
  'webhooks:write',
] as const

export type Scope = (typeof SCOPES)[number]
