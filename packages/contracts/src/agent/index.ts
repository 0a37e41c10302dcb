import { agentApiKeys } from './agent-api-keys.ts'
import { agents } from './agents.ts'
import { checkpointRetention } from './checkpoint-retention.ts'
import { checkpoints } from './checkpoints.ts'
import { deliveries } from './deliveries.ts'
import { spans } from './spans.ts'

export { SPAN_BATCH_LIMIT_BYTES, SPAN_LIMIT_BYTES, spans } from './spans.ts'
export {
  CreateSpanRequest,
  END_BEFORE_START,
  isInOrder,
  isOwnParent,
  OWN_PARENT,
  PutSpanRequest,
  Span,
  START_AFTER_END,
  UpdateSpanRequest,
} from './span.ts'
export { SPAN_BATCH_ITEMS, SpanBatchResponse, SpanBatchResult } from './span-batches.ts'
export { Trace, TraceSpan } from './traces.ts'
export {
  CHECKPOINT_LIMIT_BYTES,
  checkpoints,
  GetCheckpointTupleRequest,
  ListCheckpointsRequest,
  PutCheckpointRequest,
  PutCheckpointWritesRequest,
} from './checkpoints.ts'
export {
  CheckpointBlob,
  CheckpointGetTupleResponse,
  CheckpointListItem,
  CheckpointPutResponse,
  CheckpointWrite,
} from './checkpoint.ts'
export { NewCheckpointBlob, NewCheckpointWrite } from './checkpoint-fields.ts'
export {
  DeltaChannelHistory,
  DeltaHistoryRequest,
  DeltaHistoryResponse,
  DeltaSeed,
  DeltaWrite,
} from './delta-history.ts'
export {
  checkpointRetention,
  CopyThreadRequest,
  DeleteByRunRequest,
  ListThreadsRequest,
  PruneCheckpointsRequest,
  SetCheckpointTtlRequest,
} from './checkpoint-retention.ts'
export {
  CheckpointCounts,
  CheckpointThread,
  CheckpointThreadList,
  CheckpointTtl,
  PruneResponse,
} from './checkpoint-threads.ts'
export {
  AcpType,
  Agent,
  AgentInputType,
  agents,
  AgentStatus,
  RegisterAgentRequest,
  RegisterAgentResponse,
} from './agents.ts'
export { agentApiKeys } from './agent-api-keys.ts'
export {
  AgentApiKey,
  CreateAgentApiKeyRequest,
  KeyVerification,
  NewAgentApiKey,
  RotateAgentApiKeyRequest,
  MAX_GRACE_SECONDS,
} from './agent-api-key.ts'
export {
  CreateWebhookTriggerRequest,
  WebhookCreateWebhookTriggerResponse,
  WebhookDelivery,
  WebhookSource,
} from './webhook-trigger.ts'
export { deliveries, ReplayDeliveriesRequest, WebhookDeliveryRecord, WebhookDeliveryStatus } from './deliveries.ts'
export { forward, WEBHOOK_LIMIT_BYTES } from './forward.ts'

const operations = { ...spans, ...checkpoints, ...checkpointRetention, ...agents, ...agentApiKeys, ...deliveries }

/** Every operation of agent-api with JSON and a key; the ingress is `forward`. */
export const agentRoutes: (typeof operations)[keyof typeof operations][] = Object.values(operations)
