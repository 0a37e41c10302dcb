/** An answer the vendor's routes give on purpose: `{"detail": ...}`. */
export class VendorError extends Error {
  readonly status: number
  readonly detail: unknown
  readonly headers: Record<string, string>

  constructor(status: number, detail: unknown, headers: Record<string, string> = {}) {
    super(typeof detail === 'string' ? detail : `HTTP ${status}`)
    this.name = 'VendorError'
    this.status = status
    this.detail = detail
    this.headers = headers
  }
}

/** An error the vendor's routes do not catch: its middleware answers 500 without saying why. */
export class UncaughtError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UncaughtError'
  }
}

const pacific = new Intl.DateTimeFormat('en-CA', {
  timeZone: 'America/Los_Angeles',
  dateStyle: 'short',
  timeStyle: 'long',
  hourCycle: 'h23',
})

const pacificTime = (wallMs: number): string => pacific.format(wallMs).replace(',', '')

/** The bodies that come from the middleware around the routes. */
export const internalErrorBody = (wallMs: number, requestId: string) => ({
  error: 'Internal error occurred. Our team has been notified.',
  timestamp: pacificTime(wallMs),
  request_id: requestId,
})

export const tooManyRequestsBody = (wallMs: number) => ({ error: 'Too many requests', timestamp: pacificTime(wallMs) })
