import { SCOPES, type Scope } from '@keelson/contracts'

/** The command was called wrongly; the message says how. */
export class UsageError extends Error {
  override name = 'UsageError'
}

const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Reads `90d`, `24h`, `30m`, `10s` or `0` as milliseconds. @throws UsageError */
export const parseDuration = (text: string): number => {
  const [, amount, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  if (text === '0') return 0
  if (amount === undefined) throw new UsageError(`${text} is no duration such as 90d, 24h or 30m`)
  return Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS]
}

/** Reads a duration from now, or a date or time, as a time to come. @throws UsageError */
export const parseExpiry = (text: string, nowMs: number): string => {
  const at = /^\d{4}-/.test(text) ? Date.parse(text) : nowMs + parseDuration(text)
  if (!(at > nowMs)) throw new UsageError(`${text} is not a time to come`)
  return new Date(at).toISOString()
}

/** Reads `spans:read,models:*`. @throws UsageError naming what is no scope */
export const parseScopes = (text: string): Scope[] => {
  const scopes = text.split(',').flatMap((item) => {
    const matching = SCOPES.filter(
      (scope) => scope === item || (item.endsWith(':*') && scope.startsWith(item.slice(0, -1))),
    )
    if (matching.length === 0) throw new UsageError(`${item} is no scope; there are ${SCOPES.join(', ')}`)
    return matching
  })
  return [...new Set(scopes)]
}
