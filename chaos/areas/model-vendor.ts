import type { History } from '../history.ts'
import type { Stack } from '../stack/stack.ts'

type Row = { id: string; status: string; availability: string; generation: number }

const endpointName = (model_id: string): string => model_id.replace(/^model_/, 'keelson-')

/** What the vendor really has, against what the models say of it. */
export const checkVendor = async ({ db, vendor }: Stack, history: History): Promise<void> => {
  const violate = (detail: string) => history.violate('inconsistent', 'models', detail)
  const models = await db.sql<Row[]>`
    select id, status, model_availability as availability, generation from platform.models`
  const endpoints = new Map((await vendor.endpoints()).map((endpoint) => [endpoint.name, endpoint]))
  for (const { id, status, availability, generation } of models) {
    const endpoint = endpoints.get(endpointName(id))
    const served = endpoint?.serving_generation ?? null
    if (status === 'ready' && served !== String(generation))
      violate(`${id} is ready at generation ${generation} while the vendor serves ${served ?? 'nothing'}`)
    if (availability === 'unavailable' && endpoint !== undefined)
      violate(`${id} is ${status} and unavailable while the vendor has ${JSON.stringify(endpoint.operations)}`)
  }
  const known = new Set(models.map(({ id }) => endpointName(id)))
  for (const name of endpoints.keys()) if (!known.has(name)) violate(`the vendor has ${name}, which no model needs`)
  for (const { kind, endpoint, generation, detail } of await vendor.violations()) {
    history.violate('doubled', 'models', `${kind} of ${endpoint} at generation ${generation}: ${detail}`)
  }
}
