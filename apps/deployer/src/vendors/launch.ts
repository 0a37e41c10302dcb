import { errorOf, isFacts, isOk, malformed, saysExists, updateErrorOf } from './answers.ts'
import { asker, type Ask } from './ask.ts'
import {
  configurationOf,
  environmentOf,
  memberOf,
  wantedWorkers,
  withReasonRedacted,
  type Configuration,
  type VendorOptions,
} from './configuration.ts'
import { endpointView, stampedModels } from './endpoint-view.ts'
import { bundleFlavor, endpointBody, endpointType, streams } from './launch-body.ts'
import { ensureBundle } from './launch-bundle.ts'
import { endpointName, vendorOver, type Endpoint, type EndpointApi, type Spec, type Vendor } from './vendor.ts'

type LaunchEndpoint = Endpoint & { endpoint_id: string }

const ROOT = '/v1/model-endpoints'

const imageOf = (spec: Spec): Configuration => memberOf(configurationOf(spec), 'model_image')
const infraOf = (spec: Spec): Configuration => memberOf(configurationOf(spec), 'model_infra')
const pathOf = ({ endpoint_id }: LaunchEndpoint): string => `${ROOT}/${encodeURIComponent(endpoint_id)}`

/** The entry of the vendor's list that has exactly this name. */
const entryOf = (body: unknown, name: string): (Configuration & { id: string }) | null => {
  const listed = isFacts(body) ? body['model_endpoints'] : undefined
  if (!Array.isArray(listed)) throw malformed('list of endpoints')
  const entry: unknown = listed.find((candidate) => isFacts(candidate) && candidate['name'] === name)
  if (entry === undefined) return null
  if (!isFacts(entry) || typeof entry['id'] !== 'string') throw malformed('endpoint id')
  return { ...entry, id: entry['id'] }
}

/** Launch, the generic routes of the same server: a bundle says what runs, an endpoint runs it and has an id. */
export const launch = ({ http, apiKey, labels, resolveCredential }: VendorOptions): Vendor => {
  const environment = (spec: Spec) => environmentOf(resolveCredential, spec, imageOf(spec)['env_vars'])

  const prepare = async (spec: Spec, ask: Ask) => {
    const [image, infra, { variables, secrets: resolved }] = [imageOf(spec), infraOf(spec), await environment(spec)]
    const secrets = [apiKey, ...resolved]
    const model_bundle_id = await ensureBundle(ask, bundleFlavor(image, variables, streams(image, infra)), secrets)
    const body = { ...endpointBody(spec, image, infra, labels), model_bundle_id }
    return { body, secrets, endpoint_type: endpointType(image, infra) }
  }

  const api: EndpointApi<LaunchEndpoint> = {
    find: async (spec, step) => {
      const name = endpointName(spec.model_id)
      const answer = await asker(http, spec, step)('find', 'GET', `${ROOT}?name=${name}`)
      if (!isOk(answer)) throw errorOf(answer, false, [apiKey])
      const entry = entryOf(answer.body, name)
      if (entry === null) return null
      const found = endpointView(entry, entry['status'], wantedWorkers(infraOf(spec)))
      return withReasonRedacted({ ...found, endpoint_id: entry.id }, apiKey, () => environment(spec))
    },
    create: async (spec, step) => {
      const ask = asker(http, spec, step)
      const { body, secrets, endpoint_type } = await prepare(spec, ask)
      const answer = await ask('create', 'POST', ROOT, { ...body, endpoint_type, name: endpointName(spec.model_id) })
      if (isOk(answer)) return 'created'
      if (saysExists(answer)) return 'exists'
      throw errorOf(answer, true, secrets)
    },
    update: async (found, spec, step) => {
      const ask = asker(http, spec, step)
      const { body, secrets } = await prepare(spec, ask)
      const answer = await ask('update', 'PUT', pathOf(found), body)
      if (!isOk(answer)) throw updateErrorOf(answer, secrets)
    },
    remove: async (found, spec, step) => {
      const answer = await asker(http, spec, step)('remove', 'DELETE', pathOf(found))
      if (!isOk(answer) && answer.status !== 404) throw errorOf(answer, true, [apiKey])
    },
    list: async (step) => {
      const answer = await asker(http, { traceparent: null }, step)('list', 'GET', ROOT)
      if (!isOk(answer)) throw errorOf(answer, false, [apiKey])
      return stampedModels(answer.body, (entry) => entry)
    },
  }
  return vendorOver(api)
}
