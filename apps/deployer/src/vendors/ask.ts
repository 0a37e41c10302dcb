import type { Answer, Method, VendorHttp } from './http.ts'
import type { Step } from './step.ts'
import type { Spec } from './vendor.ts'

/** Sends one request of a step, in the trace of the request that asked for the deployment. */
export type Ask = (operation: string, method: Method, path: string, body?: unknown) => Promise<Answer>

export const asker =
  (http: Pick<VendorHttp, 'call'>, { traceparent }: Pick<Spec, 'traceparent'>, step: Step): Ask =>
  (operation, method, path, body) =>
    http.call({ operation, method, path, body, traceparent }, step)
