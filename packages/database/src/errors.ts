/** The error Postgres or the driver raised, from under whatever wrapped it. */
const causes = function* (error: unknown): Generator<object> {
  let current = error
  for (let depth = 0; depth < 5 && typeof current === 'object' && current !== null; depth += 1) {
    yield current
    current = (current as { cause?: unknown }).cause
  }
}

const field = (error: unknown, name: 'code' | 'constraint_name'): string | null => {
  for (const cause of causes(error)) {
    const value = (cause as Record<string, unknown>)[name]
    if (typeof value === 'string') return value
  }
  return null
}

/** Always holds a digit, unlike EPIPE. */
const SQLSTATE = /^(?=.*\d)[0-9A-Z]{5}$/

/** The five-character SQLSTATE of an error, or `null` when Postgres did not raise it. */
export const sqlStateOf = (error: unknown): string | null => {
  const code = field(error, 'code')
  return code !== null && SQLSTATE.test(code) ? code : null
}

/**
 * Connection exceptions, lack of resources, shutdown, serialization failure, deadlock, cancelled by a timeout, lock not
 * available, idle in transaction, and a primary that became a standby.
 */
const TRANSIENT_SQLSTATE = /^(08|53|57P0|40001|40P01|57014|55P03|25P03|25006)/

const TRANSIENT_CONNECTION = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
])

/** Whether the same statement may succeed later: the caller should answer 503 and be asked to come back. */
export const isTransient = (error: unknown): boolean => {
  const code = field(error, 'code')
  return code !== null && (TRANSIENT_CONNECTION.has(code) || (SQLSTATE.test(code) && TRANSIENT_SQLSTATE.test(code)))
}

/** Whether a statement failed for rows that others hold: a lock was not to be had in time, or a deadlock was broken. */
export const isBlocked = (error: unknown): boolean => ['55P03', '40P01'].includes(sqlStateOf(error) ?? '')

/** Whether Postgres refused a value as such: NUL in text, a number out of range, a key too long for its index. */
export const isRejectedValue = (error: unknown): boolean => /^(22|54)/.test(sqlStateOf(error) ?? '')

/** The name of the constraint a statement violated, or `null` when it failed for another reason. */
export const constraintOf = (error: unknown): string | null =>
  sqlStateOf(error)?.startsWith('23') ? field(error, 'constraint_name') : null
