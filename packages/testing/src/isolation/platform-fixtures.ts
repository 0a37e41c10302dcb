import { textOf, type Caller, type Fixtures, type NamedRequest } from './fixture.ts'

const MISSING_CREDENTIAL = 'cred_01kaf8zq4te3vbr6k2v9d8m5wn'
const MISSING_MODEL = 'model_01kaf8zq4te3vbr6k2v9d8m5wn'

const credential = async (call: Caller, label: string) => {
  const name = `credential of ${label}`
  const made = await call('createCredential', { body: { name, payload: `secret of ${label}`, type: 'key' } })
  return { id: textOf(made, 'id'), name }
}

const model = async (call: Caller, label: string) => {
  const name = `model of ${label}`
  const made = await call('createModel', { body: { name, model_vendor: 'openai', model_type: 'generic' } })
  return { id: textOf(made, 'id'), name }
}

type Part = Pick<NamedRequest, 'query' | 'body'>

const credentialById = (part: Part = {}) => ({
  own: async (call: Caller, label: string) => {
    const { id, name } = await credential(call, label)
    return { ...part, params: { credential_id: id }, ids: [id, name] }
  },
  missing: () => ({ ...part, params: { credential_id: MISSING_CREDENTIAL }, ids: [MISSING_CREDENTIAL] }),
})

const credentialByName = () => ({
  own: async (call: Caller, label: string) => {
    const { id, name } = await credential(call, label)
    return { params: { credential_name: name }, ids: [name, id] }
  },
  missing: (label: string) => ({ params: { credential_name: `nothing of ${label}` }, ids: [`nothing of ${label}`] }),
})

const modelById = (part: Part = {}) => ({
  own: async (call: Caller, label: string) => {
    const { id, name } = await model(call, label)
    return { ...part, params: { model_id: id }, ids: [id, name] }
  },
  missing: () => ({ ...part, params: { model_id: MISSING_MODEL }, ids: [MISSING_MODEL] }),
})

const CONFIGURATION = { model: 'llama-3-8b-instruct' }

/** A model that has been asked to serve, with the one deployment that is about it. */
const deploymentsOf = () => ({
  own: async (call: Caller, label: string) => {
    const name = `served model of ${label}`
    const made = await call('createModel', {
      body: { name, model_vendor: 'llmengine', vendor_configuration: CONFIGURATION },
    })
    const model_id = textOf(made, 'id')
    const { items } = await call('listDeployments', { params: { model_id } })
    const [deployment] = items as Record<string, unknown>[]
    return { params: { model_id }, ids: [model_id, textOf(deployment ?? {}, 'id')] }
  },
  missing: () => ({ params: { model_id: MISSING_MODEL }, ids: [MISSING_MODEL] }),
})

/** What each operation of platform-api is asked about. A new operation needs a line here. */
export const platformFixtures: Fixtures = {
  createCredential: {
    // The name another account uses is free here.
    own: async (call, label) => {
      const { id } = await credential(call, label)
      return { body: { name: `second ${label}`, payload: 'x', type: 'key' }, ids: [`second ${label}`, id] }
    },
    missing: (label) => ({ body: { name: `unused ${label}`, payload: 'x', type: 'key' }, ids: [`unused ${label}`] }),
  },
  listCredentials: {
    own: async (call, label) => {
      const { id, name } = await credential(call, label)
      return { ids: [id, name] }
    },
  },
  getCredential: credentialById(),
  getCredentialByName: credentialByName(),
  getCredentialSecret: credentialById(),
  getCredentialSecretByName: credentialByName(),
  updateCredential: credentialById({ body: { description: 'changed', payload: 'changed' } }),
  deleteCredential: credentialById(),
  createModel: {
    own: (_call, label) => {
      const name = `new model of ${label}`
      return { body: { name, model_vendor: 'openai', model_type: 'generic', on_conflict: 'update' }, ids: [name] }
    },
    missing: (label) => {
      const name = `unused model of ${label}`
      return { body: { name, model_vendor: 'openai', model_type: 'generic', on_conflict: 'update' }, ids: [name] }
    },
  },
  listModels: {
    own: async (call, label) => {
      const { id, name } = await model(call, label)
      return { ids: [id, name] }
    },
  },
  getModel: modelById(),
  updateModel: modelById({ body: { model_metadata: { changed: true } } }),
  deleteModel: modelById(),
  listDeployments: deploymentsOf(),
}
