import { ApiError } from '@keelson/service-kit'

export type Payload = Record<string, unknown>

const FORM = /^application\/x-www-form-urlencoded\s*(?:;|$)/i

export const isForm = (contentType: string | undefined): boolean => contentType !== undefined && FORM.test(contentType)

const isObject = (value: unknown): value is Payload =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const parseObject = (text: string): Payload | null => {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

const parseForm = (text: string): Payload | null => {
  const form = new URLSearchParams(text)
  const payload = form.get('payload')
  return payload === null ? Object.fromEntries(form) : parseObject(payload)
}

/**
 * What a verified body says: JSON, a form with JSON in its field `payload`, or the fields of a form.
 *
 * @throws ApiError `malformed_request`
 */
export const parsePayload = (body: Buffer, contentType: string | undefined): Payload => {
  const text = body.toString()
  const payload = isForm(contentType) ? parseForm(text) : parseObject(text)
  if (payload === null) throw new ApiError('malformed_request', 'The verified body is not a JSON object')
  return payload
}

/** A text at a path of names; `undefined` for anything else. */
export const textAt = (payload: Payload, ...names: string[]): string | undefined => {
  let value: unknown = payload
  for (const name of names) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
  return typeof value === 'string' ? value : undefined
}
