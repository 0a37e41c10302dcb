import {
  checkpoints,
  CHECKPOINT_LIMIT_BYTES,
  forward,
  SPAN_BATCH_LIMIT_BYTES,
  SPAN_LIMIT_BYTES,
  spans,
  WEBHOOK_LIMIT_BYTES,
} from '@keelson/contracts/agent'
import {
  bodyLimitSetting,
  edgeSettings,
  loadConfig,
  processSettings,
  connectionSettings,
  setting,
  type Config,
  type Environment,
} from '@keelson/service-kit'
import { MAX_TUPLE_BYTES } from './checkpoints/tuple-rows.ts'

const wakes = 'the webhook worker'

const agentSettings = {
  ...connectionSettings(12),
  ALLOW_PRIVATE_AGENTS: setting.flag({
    default: false,
    description: 'whether agents may live on this machine or in private networks',
  }),
} as const

/** What agent-api needs from its environment. */
export const settings = {
  ...processSettings({ port: 8081, metricsPort: 9081, serves: 'the API', wakes }),
  ...agentSettings,
  ...edgeSettings,
  SPAN_RETENTION: setting.retentionMs({
    default: null,
    description: 'how long spans are kept, such as `90d`; unset, for ever',
  }),
  MAX_SPAN_BYTES: bodyLimitSetting(SPAN_LIMIT_BYTES, 'a span'),
  MAX_SPAN_BATCH_BYTES: bodyLimitSetting(SPAN_BATCH_LIMIT_BYTES, 'a batch of spans'),
  MAX_CHECKPOINT_BYTES: bodyLimitSetting(CHECKPOINT_LIMIT_BYTES, 'a checkpoint that is put, or the writes to one,'),
  MAX_WEBHOOK_BYTES: bodyLimitSetting(WEBHOOK_LIMIT_BYTES, 'a webhook'),
  MAX_TUPLE_BYTES: setting.integer({
    default: MAX_TUPLE_BYTES,
    min: 1_048_576,
    max: 268_435_456,
    description: 'what one checkpoint with its blobs and pending writes may weigh to be answered; beyond, 409',
  }),
  PUBLIC_URL: setting.url({
    protocols: ['http', 'https'],
    default: null,
    description: 'where the outside reaches this service, for the addresses of webhooks',
  }),
} as const

export const agentConfig = (env: Environment): Config<typeof settings> => loadConfig(env, settings)

/** What bodies may weigh, by operation; all others are as the contract says. */
export const bodyLimits = (config: Config<typeof settings>): Readonly<Record<string, number>> => ({
  [spans.createSpan.operationId]: config.MAX_SPAN_BYTES,
  [spans.updateSpan.operationId]: config.MAX_SPAN_BYTES,
  [spans.createSpanBatch.operationId]: config.MAX_SPAN_BATCH_BYTES,
  [spans.putSpanBatch.operationId]: config.MAX_SPAN_BATCH_BYTES,
  [checkpoints.putCheckpoint.operationId]: config.MAX_CHECKPOINT_BYTES,
  [checkpoints.putCheckpointWrites.operationId]: config.MAX_CHECKPOINT_BYTES,
  [forward.forwardPost.operationId]: config.MAX_WEBHOOK_BYTES,
})

/** What the webhook worker needs from its environment. */
export const webhookWorkerSettings = {
  ...processSettings({ port: 8084, metricsPort: 9084, serves: 'the probes', wakes }),
  ...agentSettings,
  WEBHOOK_ATTEMPT_TIMEOUT: setting.durationMs({
    default: 30_000,
    description: 'how long an agent may take; a delivery of a lost worker is taken over after twice as long',
  }),
  WEBHOOK_CONCURRENCY: setting.integer({
    default: 32,
    min: 1,
    max: 256,
    description: 'attempts at a time: a quarter for one agent, half for one account at most',
  }),
} as const

export const webhookWorkerConfig = (env: Environment): Config<typeof webhookWorkerSettings> =>
  loadConfig(env, webhookWorkerSettings)
