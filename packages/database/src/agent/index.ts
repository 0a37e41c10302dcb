export { agent } from './schema.ts'
export { checkpointBlobs, checkpoints, checkpointTtls, checkpointWrites, REFUSED, threads } from './checkpoints.ts'
export { spans } from './spans.ts'
