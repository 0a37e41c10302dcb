import { expectEqual, say, Unexpected, type Call } from './demo-client.ts'

const DEADLINE_MS = 60_000

type Model = {
  id: string
  name: string
  status: string
  status_reason?: string
  model_vendor: string
  model_availability: string
}

const show = (model: Model) =>
  say(`  ${model.id}  ${model.name}  ${model.model_vendor}  ${model.status}  ${model.model_availability}`)

/** Creates a model, follows its deployment at the vendor to the end, and finds it in the list. */
export const demoModel = async (call: Call) => {
  const name = `demo-${Date.now().toString(36)}`
  say('A model is created; the deployer takes it to the serving vendor:')
  let model = await call<Model>('POST /v5/models', {
    name,
    vendor_configuration: { model: 'llama-3-8b-instruct', min_workers: 1, max_workers: 2, labels: { team: 'demo' } },
    model_metadata: { owner: 'demo' },
  })
  show(model)
  expectEqual('the status of a new model', model.status, 'deploying')
  const started = performance.now()
  while (model.status === 'deploying') {
    if (performance.now() - started > DEADLINE_MS)
      throw new Unexpected(`${model.id} is still deploying after ${DEADLINE_MS / 1000} s`)
    model = await call<Model>(`GET /v5/models/${model.id}?wait=20`)
  }
  show(model)
  if (model.status !== 'ready')
    throw new Unexpected(`${model.id} is ${model.status}: ${model.status_reason ?? 'no reason given'}`)
  const { items } = await call<{ items: Model[] }>(`GET /v5/models?name=${name}`)
  expectEqual(
    'the models of that name',
    items.map(({ id }) => id),
    [model.id],
  )
  say(`  ready after ${((performance.now() - started) / 1000).toFixed(1)} s\n`)
}
