import type { RawRequest } from '@keelson/contracts/client'

/** A request to an operation, and what it names. */
export type NamedRequest = Pick<RawRequest, 'params' | 'query' | 'body'> & {
  /** Texts by which the answer could tell that the object exists. */
  ids: readonly string[]
}

/** Calls an operation as the account the fixture makes things for; fails for anything but a success. */
export type Caller = (
  operationId: string,
  request?: Pick<RawRequest, 'params' | 'query' | 'body' | 'headers'>,
) => Promise<Record<string, unknown>>

/** What one operation is asked about. */
export type OperationFixture = {
  /** Makes what the operation works on, and the request that names it. A label makes names unique. */
  own: (call: Caller, label: string) => Promise<NamedRequest> | NamedRequest
  /** The same request about something nobody has; left out where the request names nothing. */
  missing?: (label: string) => NamedRequest
}

export type Fixtures = Readonly<Record<string, OperationFixture>>

/** The text of a field of an answer. */
export const textOf = (answer: Record<string, unknown>, field: string): string => {
  const value = answer[field]
  if (typeof value !== 'string') throw new Error(`the answer has no text ${field}`)
  return value
}
