export { z } from '@hono/zod-openapi'
export { Base64Bytes, isBase64Schema } from './base64.ts'
export { JsonBytes, JsonText, jsonTextOf, writeJson } from './json-text.ts'
export { FreeFormObject, FreeFormObjects, FreeFormValue, isFreeForm, type JsonObject } from './free-form.ts'
export { normaliseTimestamp, Timestamp, UtcTimestamp } from './timestamp.ts'
export { ERRORS, ERROR_CODES, Problem, type ErrorCode } from './errors.ts'
export { SCOPES, type Scope } from './scopes.ts'
export {
  BODY_LIMIT_BYTES,
  isConditional,
  isRepeatable,
  route,
  type Route,
  type RouteInput,
  type RouteOutput,
  type RouteRequest,
} from './route.ts'
