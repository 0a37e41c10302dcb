/** One request that must be answered as said; headers with an empty value are left out. */
export type BadInput = {
  /** Its row in the catalogue. */
  row: number
  name: string
  method?: string
  path: string
  headers?: Record<string, string>
  body?: string | Buffer | undefined
  status: number
  code?: string
  answerHeaders?: Record<string, string>
  /** What the answer holds. */
  holds?: string
}

export const INVALID = { status: 422, code: 'invalid_request' }
export const MISSING = { status: 404, code: 'not_found' }
export const NO_PATH = { status: 404, code: 'unknown_path' }
export const BAD_REQUEST = { status: 400, code: 'malformed_request' }
export const NO_KEY = { status: 401, code: 'unauthenticated' }

export const post = (row: number, name: string, path: string, body: object, expected: object = INVALID): BadInput =>
  ({ row, name, method: 'POST', path, body: JSON.stringify(body), ...expected }) as BadInput
