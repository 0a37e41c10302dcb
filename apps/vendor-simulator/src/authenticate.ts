import { VendorError } from './vendor-error.ts'
import type { World } from './world.ts'

/** The API key of a request: the user of HTTP Basic with an empty password, or a Bearer token. */
const keyOf = (authorization: string | undefined): string | null => {
  const [, scheme = '', value = ''] = /^(\w+) +(.*)$/.exec(authorization ?? '') ?? []
  if (scheme.toLowerCase() === 'bearer') return value || null
  if (scheme.toLowerCase() !== 'basic') return null
  return Buffer.from(value, 'base64').toString().split(':', 1)[0] || null
}

/** @returns the key's owner. @throws VendorError 401 */
export const authenticate = ({ keys }: Pick<World, 'keys'>, authorization: string | undefined): string => {
  const key = keyOf(authorization)
  if (key === null) throw new VendorError(401, 'No authentication was passed in', { 'www-authenticate': 'Bearer' })
  const owner = keys ? keys.get(key) : key
  if (owner !== undefined) return owner
  const scheme = /^basic/i.test(authorization ?? '') ? 'Basic' : 'Bearer'
  throw new VendorError(401, 'Could not authenticate user', { 'www-authenticate': scheme })
}
