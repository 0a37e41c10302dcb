import { Text } from './text.ts'

const isHttpUrl = (text: string): boolean => {
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null
  return url !== null && url.username === '' && url.password === '' && url.hash === '' && url.search === ''
}

/** An absolute http or https URL without user, query or fragment. */
export const HttpUrl = Text.refine(isHttpUrl, {
  error: 'must be an http or https URL without user, query or fragment',
}).openapi({
  format: 'uri',
  maxLength: 2048,
})
