const MAX_CAUSES = 4

/** Facts of database and system errors that name things of ours, never data. */
const PLAIN_FACTS = ['code', 'syscall', 'severity', 'routine', 'schema_name', 'table_name', 'constraint_name'] as const

/** A stack begins with the message, over as many lines as it has; the frames are what follows. */
const framesOf = (stack: string | undefined): string =>
  (stack ?? '')
    .split('\n')
    .filter((line) => line.startsWith('    at '))
    .join('\n')

/**
 * What a log line may tell about an error: names, codes, frames and causes. A message can quote data of a customer
 * (`Unexpected token`, `invalid input syntax for type`), so it is told only `withMessage`, for development.
 */
export const safeError = (error: unknown, withMessage: boolean, depth = 0): Record<string, unknown> => {
  if (!(error instanceof Error)) return { name: typeof error }
  const facts = error as Error & Partial<Record<(typeof PLAIN_FACTS)[number], unknown>>
  const told: Record<string, unknown> = { name: error.name }
  for (const fact of PLAIN_FACTS) {
    const value = facts[fact]
    if (typeof value === 'string' && value.length <= 100) told[fact] = value
  }
  if (withMessage) told['message'] = error.message
  told['stack'] = framesOf(error.stack)
  if (error.cause !== undefined && depth < MAX_CAUSES) told['cause'] = safeError(error.cause, withMessage, depth + 1)
  return told
}
