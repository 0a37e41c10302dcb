import { models } from '@keelson/contracts/platform'
import { entityTag, type Call, type Service } from '@keelson/service-kit'
import type { Deps } from '../app.ts'
import { createModel } from './create-model.ts'
import { deleteModel } from './delete-model.ts'
import { modelInserts } from './insert-models.ts'
import { presentDeployment, presentModel, type ModelRow } from './model-row.ts'
import { poll } from './poll.ts'
import { modelStore } from './store.ts'
import { updateModel } from './update-model.ts'

const TEARDOWN_WAIT_MS = 50_000
const secondsToMs = (seconds = 0): number => seconds * 1000

/** The model in an answer, with its entity tag. */
const answerWith = ({ respond }: Pick<Call, 'respond'>, row: ModelRow) => {
  respond.header('etag', entityTag(row.revision))
  return presentModel(row)
}

const readRoutes = (service: Service, { db }: Pick<Deps, 'db'>) => {
  service.handle(models.listModels, async ({ query, principal }) => {
    const page = await modelStore(db, principal.account_id).list(query)
    return { ...page, items: page.items.map(presentModel) }
  })

  service.handle(
    models.getModel,
    async ({ params, query, principal, signal, respond }) => {
      const store = modelStore(db, principal.account_id)
      const isSettled = ({ status }: { status: string }) => status !== 'deploying'
      const waitMs = secondsToMs(query.wait)
      return answerWith({ respond }, await poll(() => store.get(params.model_id), isSettled, { waitMs, signal }))
    },
    { waitsMs: ({ query }) => secondsToMs(query.wait) },
  )

  service.handle(models.listDeployments, async ({ params, query, principal }) => {
    const page = await modelStore(db, principal.account_id).listDeployments(params.model_id, query)
    return { ...page, items: page.items.map(presentDeployment) }
  })
}

export const modelRoutes = (
  service: Service,
  { db, queue, nativeInferenceGateway }: Pick<Deps, 'db' | 'queue' | 'nativeInferenceGateway'>,
) => {
  readRoutes(service, { db })
  const insert = modelInserts(db)

  /** After the commit, and without waiting: the deployer also finds what nobody rang for. */
  const ring = (account_id: string, deployment_id: string | null, traceparent: string | null) => {
    if (deployment_id !== null)
      void queue.ring('advance_deployment', { account_id, deployment_id }, { traceparent: traceparent ?? undefined })
  }

  service.handle(models.createModel, async ({ body, principal, traceparent, respond }) => {
    const { model, deployment_id } = await createModel(
      { db, insert },
      { body, principal, traceparent, nativeInferenceGateway },
    )
    ring(principal.account_id, deployment_id, traceparent)
    return answerWith({ respond }, model)
  })

  service.handle(models.updateModel, async ({ params, body, principal, traceparent, ifMatch, respond }) => {
    const target = { account_id: principal.account_id, model_id: params.model_id }
    const { model, deployment_id } = await updateModel(db, { ...target, change: body, traceparent, ifMatch })
    ring(principal.account_id, deployment_id, traceparent)
    return answerWith({ respond }, model)
  })

  service.handle(
    models.deleteModel,
    async ({ params: { model_id }, principal, traceparent, ifMatch, signal }) => {
      const target = { account_id: principal.account_id, model_id }
      await deleteModel(db, {
        ...target,
        traceparent,
        ifMatch,
        signal,
        ring: (deployment_id) => ring(principal.account_id, deployment_id, traceparent),
        waitMs: TEARDOWN_WAIT_MS,
      })
      return { id: model_id, deleted: true, object: 'model' as const }
    },
    { waitsMs: () => TEARDOWN_WAIT_MS },
  )
}
