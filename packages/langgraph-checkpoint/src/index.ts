export { KeelsonError, type ConnectionOptions } from './connection.ts'
export { KeelsonSaver, type KeelsonSaverOptions } from './saver.ts'
