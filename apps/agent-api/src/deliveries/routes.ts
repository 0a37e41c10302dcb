import { deliveries } from '@keelson/contracts/agent'
import type { Service } from '@keelson/service-kit'
import type { Deps } from '../app.ts'
import { deliveryStore } from './store.ts'

export const deliveryRoutes = (service: Service, { db, queue }: Pick<Deps, 'db' | 'queue'>) => {
  service.handle(deliveries.listDeliveries, ({ query, principal }) =>
    deliveryStore(db, principal.account_id).list(query),
  )

  service.handle(deliveries.getDelivery, ({ params, principal }) =>
    deliveryStore(db, principal.account_id).get(params.delivery_id),
  )

  service.handle(deliveries.replayDelivery, async ({ params, principal: { account_id } }) => {
    const delivery = await deliveryStore(db, account_id).replay(params.delivery_id)
    await queue.ring('deliver_webhook', { delivery_id: delivery.id, account_id })
    return delivery
  })

  service.handle(deliveries.replayDeliveries, async ({ body, principal }) => ({
    replayed: await deliveryStore(db, principal.account_id).replayRange(body),
  }))
}
