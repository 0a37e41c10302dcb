export { freePort } from './free-port.ts'
export { descendants, stillRunning, type Process } from './processes.ts'
export { keepProcess, type Exit, type KeptProcess } from './kept-process.ts'
export { onPath } from './on-path.ts'
export type { LocalJson } from './local-json.ts'
export { startPostgres, type EmbeddedPostgres } from './postgres.ts'
export { startService, waitUntilReady } from './service-process.ts'
export { createServiceUser } from './service-user.ts'
export {
  METRICS_OFFSET,
  NODE_ENVIRONMENT,
  NODE_FLAGS,
  SERVICES,
  type Service,
  type ServiceName,
  type StackEnvironment,
} from './services.ts'
