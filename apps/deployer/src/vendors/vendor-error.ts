import type { ReasonCode } from '@keelson/database/platform'

export type VendorErrorOptions = {
  /** The vendor's own words, for people; redact before. */
  detail?: string
  /** Whether the same step may succeed later. */
  retryable: boolean
  /** Whether a write was sent whose outcome is unknown: it may still take effect. */
  uncertain?: boolean
  /** The vendor asked not to be called again before. */
  retryAfterMs?: number
  cause?: unknown
}

/** A vendor step that did not succeed, and what that means for the deployment. */
export class VendorError extends Error {
  readonly reason: ReasonCode
  readonly detail: string
  readonly retryable: boolean
  readonly uncertain: boolean
  readonly retryAfterMs: number

  constructor(reason: ReasonCode, options: VendorErrorOptions) {
    const { detail = '', retryable, uncertain = false, retryAfterMs = 0, cause } = options
    super(detail === '' ? reason : `${reason}: ${detail}`, { cause })
    this.name = 'VendorError'
    this.reason = reason
    this.detail = detail
    this.retryable = retryable
    this.uncertain = uncertain
    this.retryAfterMs = retryAfterMs
  }
}
