export class TimedOut extends Error {
  override name = 'TimedOut'
}

/**
 * Waits for `promise` no longer than `timeoutMs`; what it settles to afterwards is ignored.
 *
 * @throws TimedOut
 */
export const within = async <T>(promise: Promise<T>, timeoutMs: number): Promise<T> => {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new TimedOut(`no answer within ${timeoutMs} ms`)), timeoutMs)
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
