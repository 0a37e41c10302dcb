import { ApiError } from './api-error.ts'
import type { HeaderReader } from './request-facts.ts'

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json$/
const PARAMETER = /^[\w!#$%&'*+.^`|~-]+=(?:"[^"\\]*"|[\w!#$%&'*+.^`|~-]+)$/

const unsupported = (detail: string): never => {
  throw new ApiError('unsupported_media_type', detail, { headers: { accept: 'application/json' } })
}

const isUtf8 = (parameter: string): boolean => {
  const [name, value = ''] = parameter.toLowerCase().split('=')
  return name !== 'charset' || /^"?utf-?8"?$/.test(value)
}

/**
 * Takes `application/json` and `application/*+json`, in UTF-8 and not compressed.
 *
 * @throws ApiError `unsupported_media_type`
 */
export const requireJson = (headers: HeaderReader): void => {
  const contentType = headers.get('content-type')
  const encoding = headers.get('content-encoding')
  if (encoding !== null && encoding.toLowerCase() !== 'identity') unsupported('The body may not be compressed')
  if (contentType === 'application/json') return
  const [type = '', ...parameters] = (contentType ?? '').split(';').map((part) => part.trim())
  if (!JSON_TYPE.test(type.toLowerCase())) unsupported('The Content-Type must be application/json')
  const given = parameters.filter((parameter) => parameter !== '')
  if (!given.every((parameter) => PARAMETER.test(parameter))) unsupported('The Content-Type cannot be read')
  if (!given.every(isUtf8)) unsupported('The body must be UTF-8')
}
