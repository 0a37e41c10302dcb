import { errorOf, isFacts, isOk, malformed, saysExists, updateErrorOf } from './answers.ts'
import { asker } from './ask.ts'
import {
  configurationOf,
  environmentOf,
  wantedWorkers,
  withReasonRedacted,
  type Configuration,
  type VendorOptions,
} from './configuration.ts'
import { endpointView, stampedModels } from './endpoint-view.ts'
import { createBody, updateBody } from './llm-engine-body.ts'
import { endpointName, vendorOver, type EndpointApi, type Spec, type Vendor } from './vendor.ts'

const ROOT = '/v1/llm/model-endpoints'

const pathOf = ({ model_id }: Spec): string => `${ROOT}/${endpointName(model_id)}`

/** The LLM Engine server, its `/v1/llm/model-endpoints`: endpoints are found by name. */
export const llmEngine = ({ http, apiKey, labels, resolveCredential }: VendorOptions): Vendor => {
  const environment = (spec: Spec) => environmentOf(resolveCredential, spec, configurationOf(spec)['env_vars'])

  const prepare = async (
    spec: Spec,
    bodyOf: typeof createBody,
  ): Promise<{ body: Configuration; secrets: string[] }> => {
    const { variables, secrets } = await environment(spec)
    return { body: bodyOf(spec, configurationOf(spec), variables, labels), secrets: [apiKey, ...secrets] }
  }

  const api: EndpointApi = {
    find: async (spec, step) => {
      const answer = await asker(http, spec, step)('find', 'GET', pathOf(spec))
      if (answer.status === 404) return null
      if (!isOk(answer)) throw errorOf(answer, false, [apiKey])
      if (!isFacts(answer.body)) throw malformed('JSON object')
      const found = endpointView(answer.body['spec'], answer.body['status'], wantedWorkers(configurationOf(spec)))
      return withReasonRedacted(found, apiKey, () => environment(spec))
    },
    create: async (spec, step) => {
      const { body, secrets } = await prepare(spec, createBody)
      const named = { ...body, name: endpointName(spec.model_id) }
      const answer = await asker(http, spec, step)('create', 'POST', ROOT, named)
      if (isOk(answer)) return 'created'
      if (saysExists(answer)) return 'exists'
      throw errorOf(answer, true, secrets)
    },
    update: async (_found, spec, step) => {
      const { body, secrets } = await prepare(spec, updateBody)
      const answer = await asker(http, spec, step)('update', 'PUT', pathOf(spec), body)
      if (!isOk(answer)) throw updateErrorOf(answer, secrets)
    },
    remove: async (_found, spec, step) => {
      const answer = await asker(http, spec, step)('remove', 'DELETE', pathOf(spec))
      if (!isOk(answer) && answer.status !== 404) throw errorOf(answer, true, [apiKey])
    },
    list: async (step) => {
      const answer = await asker(http, { traceparent: null }, step)('list', 'GET', ROOT)
      if (!isOk(answer)) throw errorOf(answer, false, [apiKey])
      return stampedModels(answer.body, (entry) => entry['spec'])
    },
  }
  return vendorOver(api)
}
