/**
 * Works under a signal that aborts after `ms`, or when `hurry` does. Lets go of the timer and of `hurry` as soon as the
 * work has ended: `AbortSignal.timeout` and `AbortSignal.any` keep both, and all they refer to, until the time is over.
 */
export const limited = async <Result>(
  ms: number,
  hurry: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> => {
  const controller = new AbortController()
  const onHurry = () => controller.abort(hurry.reason)
  const timer = setTimeout(() => controller.abort(new DOMException('the time is over', 'TimeoutError')), ms)
  if (hurry.aborted) onHurry()
  else hurry.addEventListener('abort', onHurry)
  try {
    return await work(controller.signal)
  } finally {
    clearTimeout(timer)
    hurry.removeEventListener('abort', onHurry)
  }
}
