import { checkpoints } from '@keelson/contracts/agent'
import type { Service } from '@keelson/service-kit'
import type { Deps } from '../app.ts'
import { retentionRoutes } from './retention-routes.ts'
import { checkpointStore } from './store.ts'

type CheckpointDeps = Pick<Deps, 'db' | 'checkpointWriter' | 'maxTupleBytes'>

export const checkpointRoutes = (service: Service, { db, checkpointWriter, maxTupleBytes }: CheckpointDeps) => {
  const storeOf = (account_id: string) => checkpointStore(db, checkpointWriter, account_id, maxTupleBytes)

  service.handle(checkpoints.getCheckpointTuple, ({ body, principal }) => storeOf(principal.account_id).getTuple(body))

  service.handle(checkpoints.putCheckpoint, async ({ body, principal }) => {
    await storeOf(principal.account_id).put(body)
    const { thread_id, checkpoint_ns, checkpoint_id } = body
    return { thread_id, checkpoint_ns, checkpoint_id }
  })

  service.handle(checkpoints.putCheckpointWrites, async ({ body, principal }) => {
    await storeOf(principal.account_id).putWrites(body)
    return undefined
  })

  service.handle(checkpoints.listCheckpoints, ({ body, principal }) => storeOf(principal.account_id).list(body))

  service.handle(checkpoints.deleteThread, async ({ body, principal }) => {
    await storeOf(principal.account_id).deleteThread(body.thread_id)
    return undefined
  })

  service.handle(checkpoints.getDeltaHistory, ({ body, principal }) => storeOf(principal.account_id).deltaHistory(body))

  retentionRoutes(service, { db })
}
