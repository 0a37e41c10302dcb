import type { RequestFacts } from '@keelson/service-kit'
import { ApiError } from '@keelson/service-kit'

export type Deadline = { signal: AbortSignal; clear: () => void }

/** Fires when the time is over, or whoever asked has gone. */
export const deadline = (totalMs: number, request: Request, { outgoing }: Pick<RequestFacts, 'outgoing'>): Deadline => {
  const controller = new AbortController()
  const onLate = () => controller.abort(new ApiError('agent_timeout', 'The agent did not finish its answer in time'))
  const timer = setTimeout(onLate, totalMs)
  const onGone = () => {
    clearTimeout(timer)
    controller.abort(new Error('The client went away'))
  }
  if (outgoing) outgoing.once('close', onGone)
  else request.signal.addEventListener('abort', onGone, { once: true })
  const clear = () => {
    clearTimeout(timer)
    outgoing?.off('close', onGone)
  }
  return { signal: controller.signal, clear }
}
