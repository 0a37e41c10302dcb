import { checkpointRetention } from '@keelson/contracts/agent'
import type { Service } from '@keelson/service-kit'
import type { Deps } from '../app.ts'
import { copyThread } from './copy-thread.ts'
import { deleteByRun } from './delete-by-run.ts'
import { listThreads } from './list-threads.ts'
import { prune } from './prune.ts'
import { getTtl, setTtl } from './ttl.ts'

export const retentionRoutes = (service: Service, { db }: Pick<Deps, 'db'>) => {
  service.handle(checkpointRetention.pruneCheckpoints, ({ body, principal }) => prune(db, principal.account_id, body))

  service.handle(checkpointRetention.copyThread, ({ body, principal }) =>
    copyThread(db, principal.account_id, body.source_thread_id, body.target_thread_id),
  )

  service.handle(checkpointRetention.deleteCheckpointsByRun, ({ body, principal }) =>
    deleteByRun(db, principal.account_id, body.run_ids),
  )

  service.handle(checkpointRetention.listThreads, ({ body, principal }) => listThreads(db, principal.account_id, body))

  service.handle(checkpointRetention.getCheckpointTtl, ({ body, principal }) =>
    getTtl(db, principal.account_id, body.thread_id),
  )

  service.handle(checkpointRetention.setCheckpointTtl, ({ body, principal }) => setTtl(db, principal.account_id, body))
}
