import { z } from '@hono/zod-openapi'

/** Every way a request can fail: `code -> status`. The only table of its kind; types, schemas and documents derive from it. */
export const ERRORS = {
  malformed_json: { status: 400, title: 'The body is not JSON' },
  malformed_request: { status: 400, title: 'The request cannot be read' },
  unsupported_source: { status: 400, title: 'This webhook source is not supported here' },
  unauthenticated: { status: 401, title: 'A valid API key is required' },
  invalid_signature: { status: 401, title: 'The signature or key was not accepted' },
  missing_scope: { status: 403, title: 'The API key lacks a scope' },
  account_mismatch: { status: 403, title: 'The API key belongs to another account' },
  feature_disabled: { status: 403, title: 'This feature is switched off' },
  not_found: { status: 404, title: 'There is no such object' },
  unknown_path: { status: 404, title: 'There is no such path' },
  method_not_allowed: { status: 405, title: 'The path has no such method' },
  request_timeout: { status: 408, title: 'The request took too long to arrive' },
  credential_exists: { status: 409, title: 'A credential of this name exists' },
  model_exists: { status: 409, title: 'A model of this name and vendor exists' },
  model_deploying: { status: 409, title: 'The model is deploying' },
  span_exists: { status: 409, title: 'A span of this id exists with other facts' },
  version_conflict: { status: 409, title: 'This channel version exists with other content' },
  head_moved: { status: 409, title: 'Another writer moved the head of the thread' },
  thread_deleted: { status: 409, title: 'The thread was deleted' },
  thread_exists: { status: 409, title: 'The target thread exists' },
  tuple_too_large: { status: 409, title: 'The checkpoint is too large to be answered' },
  agent_exists: { status: 409, title: 'An agent of this name exists' },
  agent_api_key_exists: { status: 409, title: 'The agent has a key of this name and source' },
  request_in_progress: { status: 409, title: 'A request with this Idempotency-Key is in progress' },
  precondition_failed: { status: 412, title: 'The object has changed' },
  payload_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The body must be JSON' },
  expectation_failed: { status: 417, title: 'The expectation cannot be met' },
  invalid_request: { status: 422, title: 'The request is not valid' },
  vendor_mismatch: { status: 422, title: "The configuration does not match the model's vendor" },
  idempotency_key_reused: { status: 422, title: 'The Idempotency-Key was used for another request' },
  rate_limited: { status: 429, title: 'Too many requests' },
  headers_too_large: { status: 431, title: 'The headers are too large' },
  internal: { status: 500, title: 'Something failed on our side' },
  credential_integrity_error: { status: 500, title: 'The stored credential failed its integrity check' },
  vendor_error: { status: 502, title: 'The serving vendor refused' },
  agent_unreachable: { status: 502, title: 'The agent could not be reached' },
  unavailable: { status: 503, title: 'A dependency is unavailable' },
  teardown_in_progress: { status: 503, title: 'The deployment is still being torn down' },
  agent_timeout: { status: 504, title: 'The agent did not answer in time' },
} as const satisfies Record<string, { status: number; title: string }>

export type ErrorCode = keyof typeof ERRORS

export const ERROR_CODES = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]]

/** RFC 9457 problem details: the one shape of every error body. */
export const Problem = z
  .object({
    type: z.string().openapi({ example: 'https://keelson.dev/problems/not_found' }),
    title: z.string(),
    status: z.int(),
    detail: z.string().openapi({ description: 'For people; not stable' }),
    code: z.enum(ERROR_CODES).openapi({ description: 'For programs; stable' }),
    request_id: z.string(),
    errors: z
      .array(z.object({ path: z.string().openapi({ example: 'vendor_configuration.model' }), message: z.string() }))
      .optional()
      .openapi({ description: 'What is wrong with which field; on `invalid_request` only' }),
  })
  .openapi('Problem', { description: 'RFC 9457 problem details' })

export type Problem = z.infer<typeof Problem>
