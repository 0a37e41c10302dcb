import { textWithin } from './text.ts'

const isHttpUrl = (text: string): boolean => {
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null
  return url !== null && url.username === '' && url.password === '' && url.hash === '' && url.search === ''
}

/** An absolute http or https URL without user, query or fragment. */
export const HttpUrl = textWithin(2048)
  .refine(isHttpUrl, {
    error: 'must be an http or https URL without user, query or fragment',
  })
  .openapi({
    format: 'uri',
  })
