import { ERRORS, Problem, type ErrorCode } from './errors.ts'

const RETRY_AFTER = {
  'Retry-After': {
    description: 'Seconds to wait before the next attempt',
    schema: { type: 'integer', minimum: 1 } as const,
  },
}
const RATE_LIMIT = {
  RateLimit: {
    description: 'Where the key stands: `r` requests are left, `t` seconds until there are more; successes tell it too',
    schema: { type: 'string' } as const,
  },
  'RateLimit-Policy': {
    description: 'What a key may do: `q` requests within `w` seconds',
    schema: { type: 'string' } as const,
  },
}
const SHOULD_RETRY = {
  'x-should-retry': {
    description: '`false`: repeating the request changes nothing',
    schema: { type: 'string' } as const,
  },
}

const headersOf = (status: number) => {
  if (status === 429) return { headers: { ...RETRY_AFTER, ...RATE_LIMIT } }
  if (status === 503) return { headers: RETRY_AFTER }
  return status === 409 ? { headers: SHOULD_RETRY } : {}
}

/** The problem responses of an operation by status, as OpenAPI has them. */
export const problemResponses = (codes: readonly ErrorCode[]) => {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of new Set(codes)) {
    const { status } = ERRORS[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  const statuses = [...byStatus].toSorted(([one], [other]) => one - other)
  return Object.fromEntries(
    statuses.map(([status, group]) => [
      status,
      {
        description: group.map((code) => `\`${code}\`: ${ERRORS[code].title}`).join('; '),
        ...headersOf(status),
        content: { 'application/problem+json': { schema: Problem } },
      },
    ]),
  )
}
