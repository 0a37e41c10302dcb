/** The vendor's routes, by the name that faults and the journal use. */
export const OPERATIONS = {
  'llm.create': ['POST', '/v1/llm/model-endpoints'],
  'llm.list': ['GET', '/v1/llm/model-endpoints'],
  'llm.get': ['GET', '/v1/llm/model-endpoints/:name'],
  'llm.update': ['PUT', '/v1/llm/model-endpoints/:name'],
  'llm.delete': ['DELETE', '/v1/llm/model-endpoints/:name'],
  'bundles.create': ['POST', '/v2/model-bundles'],
  'bundles.list': ['GET', '/v2/model-bundles'],
  'bundles.latest': ['GET', '/v2/model-bundles/latest'],
  'bundles.get': ['GET', '/v2/model-bundles/:id'],
  'endpoints.create': ['POST', '/v1/model-endpoints'],
  'endpoints.list': ['GET', '/v1/model-endpoints'],
  'endpoints.get': ['GET', '/v1/model-endpoints/:id'],
  'endpoints.update': ['PUT', '/v1/model-endpoints/:id'],
  'endpoints.delete': ['DELETE', '/v1/model-endpoints/:id'],
  'endpoints.restart': ['POST', '/v1/model-endpoints/:id/restart'],
  'inference.sync': ['POST', '/v1/sync-tasks'],
  'inference.completion': ['POST', '/v1/llm/completions-sync'],
  'inference.chat': ['POST', '/v2/chat/completions'],
} as const satisfies Record<string, readonly ['GET' | 'POST' | 'PUT' | 'DELETE', string]>

export type OperationName = keyof typeof OPERATIONS
