import { platformRoutes } from '@keelson/contracts/platform'
import { createClient } from '@keelson/contracts/client'
import { inBatches, weighted, type ServiceMix } from './mix.ts'

const METADATA = { team: 'search', environment: 'production', owner: 'search-oncall@example.com', cost_center: '4711' }

const credentialOf = (n: number) => ({
  name: `credential-${n}`,
  type: 'key' as const,
  payload: `secret-${n}`,
  description: 'Read access to the model hub, rotated by the platform team every quarter',
  credential_metadata: METADATA,
})
const modelOf = (n: number) => ({
  name: `model-${n}`,
  model_vendor: 'openai' as const,
  model_type: 'chat_completion' as const,
  model_metadata: METADATA,
})

/**
 * Processes that reveal what they need as they start, and consoles and synchronisations that look through the lists, in
 * pages as long as they are by default. A reveal writes as well: the audit log. Nothing is created, since pages tell how
 * much there is, and would take longer at the end than at the beginning.
 */
export const platformMix: ServiceMix = {
  layOut: async ({ url, keys: [key = ''] }, count) => {
    const keelson = createClient(platformRoutes, { baseUrl: url['platform-api'], headers: { 'x-api-key': key } })
    await inBatches(count, async (n) => {
      await keelson.createCredential({ body: credentialOf(n) })
      await keelson.createModel({ body: modelOf(n) })
    })
  },
  mix: (key) => {
    const get = (path: string) => ({ method: 'GET', path })
    return weighted({ 'x-api-key': key }, [
      [6, { method: 'POST', path: '/v5/credentials/name/credential-{n}/secret' }],
      [3, get('/v5/credentials/name/credential-{n}')],
      [6, get('/v5/credentials')],
      [6, get('/v5/models')],
    ])
  },
}
