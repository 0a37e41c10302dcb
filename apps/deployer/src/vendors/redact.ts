const MAX_LENGTH = 500

/** Shapes of secrets that a vendor's message may quote from a request, a URL or an environment. */
const SECRET_SHAPES: readonly [RegExp, string][] = [
  [/\b(bearer|basic|agentkey)\s+[\w.~+/=-]{8,}/gi, '$1 [redacted]'],
  [/(:\/\/)[^\s/@]+@/g, '$1[redacted]@'],
  [/([?&](?:[^=\s&]*(?:token|key|secret|signature|password|credential)[^=\s&]*)=)[^\s&]+/gi, '$1[redacted]'],
  [/\b((?:[\w-]*(?:password|secret|token|api[_-]?key))["']?\s*[:=]\s*["']?)[^\s"',;}]+/gi, '$1[redacted]'],
  [/\b(?:sk-|ghp_|github_pat_|xox[abp]-|hf_|AKIA|kl(?:user|svc|agent)_)[\w-]{8,}/g, '[redacted]'],
  [/\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?/g, '[redacted]'],
]

/**
 * A vendor's message made fit to be shown: one line of at most 500 characters, without control characters, without
 * these secrets and without what looks like one.
 */
export const redact = (message: string, secrets: readonly string[]): string => {
  let text = message.toWellFormed()
  for (const secret of secrets.toSorted((one, other) => other.length - one.length)) {
    if (secret !== '') text = text.replaceAll(secret, '[redacted]')
  }
  for (const [shape, replacement] of SECRET_SHAPES) text = text.replace(shape, replacement)
  text = text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim()
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH - 1).toWellFormed()}…` : text
}

const leaves = (value: unknown): string[] => {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : []
}

const MIN_LEAF_LENGTH = 6

/** A credential and, when it is JSON, the strings in it: a vendor may quote either. */
export const secretsIn = (payload: string): string[] => {
  try {
    return [payload, ...leaves(JSON.parse(payload)).filter(({ length }) => length >= MIN_LEAF_LENGTH)]
  } catch {
    return [payload]
  }
}
