import { createHash } from 'node:crypto'
import { errorOf, isFacts, isOk, malformed } from './answers.ts'
import type { bundleFlavor } from './launch-body.ts'
import type { Ask } from './ask.ts'

const ROOT = '/v2/model-bundles'

const idOf = (body: unknown): string => {
  const id = isFacts(body) ? (body['id'] ?? body['model_bundle_id']) : undefined
  if (typeof id !== 'string') throw malformed('bundle id')
  return id
}

/**
 * The id of a bundle with exactly this content. Bundles can be neither changed nor removed, and their names need not be
 * unique; so the name is the hash of the content, and equal contents share one.
 *
 * @param secrets never to appear in an error
 */
export const ensureBundle = async (
  ask: Ask,
  flavor: ReturnType<typeof bundleFlavor>,
  secrets: readonly string[],
): Promise<string> => {
  const content_hash = createHash('sha256').update(JSON.stringify(flavor)).digest('hex')
  const name = `keelson-${content_hash.slice(0, 40)}`
  const found = await ask('find_bundle', 'GET', `${ROOT}/latest?model_name=${name}`)
  if (isOk(found)) return idOf(found.body)
  if (found.status !== 404) throw errorOf(found, false, secrets)
  const body = { name, schema_location: 'TBA', metadata: { content_hash }, flavor }
  const created = await ask('create_bundle', 'POST', ROOT, body)
  if (!isOk(created)) throw errorOf(created, true, secrets)
  return idOf(created.body)
}
