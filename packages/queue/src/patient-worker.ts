import { setTimeout as delay } from 'node:timers/promises'
import { Worker, type ConnectionOptions, type IQueueBackend, type Job, type JobProgress } from 'bullmq'

const PAUSE_MS = 250

/** BullMQ asks again at once when a claim is refused (out of memory, starting up, read-only); this one pauses first. */
export class PatientWorker<Backend extends IQueueBackend, Connection = ConnectionOptions> extends Worker<
  unknown,
  void,
  string,
  Backend,
  JobProgress,
  Connection
> {
  protected override async moveToActive(token: string, name?: string): Promise<Job<unknown, void>> {
    try {
      return await super.moveToActive(token, name)
    } catch (error) {
      if (!this.closing) await delay(PAUSE_MS)
      throw error
    }
  }
}
