export { catalogue, type JobName, type JobPayload } from './catalogue.ts'
export {
  connectQueue,
  type ConnectQueueOptions,
  type Queue,
  type QueueState,
  type RingOptions,
} from './connect-queue.ts'
export type { DoorbellState } from './doorbell-health.ts'
export { EvictingRedis } from './eviction-policy.ts'
export type { JobContext, JobHandler, WorkOptions } from './job-worker.ts'
export type { Count, JobResult, QueueLog, RingResult } from './observer.ts'
export { migrateQueue } from './postgres-backend.ts'
