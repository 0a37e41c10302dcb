import { z } from '@hono/zod-openapi'
import { FreeFormObject } from '../free-form.ts'
import { nullable } from '../given.ts'
import { listOf } from '../pagination.ts'
import { UtcTimestamp } from '../timestamp.ts'

export const DeploymentKind = z.enum(['create', 'update', 'delete', 'cleanup']).openapi('DeploymentKind', {
  description: 'What asked for it; `cleanup` removes what a failed deployment left at the vendor',
})

export const DeploymentPhase = z
  .enum([
    'queued',
    'submitted',
    'building',
    'starting',
    'verifying',
    'tearing_down',
    'succeeded',
    'failed',
    'timed_out',
    'superseded',
  ])
  .openapi('DeploymentPhase', { description: 'The last four are final' })

export const DeploymentReasonCode = z
  .enum([
    'build_failed',
    'build_timeout',
    'credential_not_found',
    'credential_unavailable',
    'endpoint_missing',
    'endpoint_overwritten',
    'image_not_found',
    'internal_error',
    'no_workers',
    'queue_timeout',
    'superseded',
    'teardown_timeout',
    'vendor_busy',
    'vendor_error',
    'vendor_not_configured',
    'vendor_rejected',
    'vendor_unauthorized',
    'vendor_unavailable',
  ])
  .openapi('DeploymentReasonCode', { description: 'Why a deployment is where it is, for programs' })

export const Deployment = z
  .object({
    id: z.string().openapi({ example: 'deploy_01kaf8zq4te3vbr6k2v9d8m5wn' }),
    model_id: z.string().openapi({ example: 'model_01kaf8zq4te3vbr6k2v9d8m5wn' }),
    kind: DeploymentKind,
    generation: z.int().openapi({ description: 'Counts the configurations of the model', example: 1 }),
    phase: DeploymentPhase,
    reason_code: nullable(DeploymentReasonCode),
    status_message: z.string().nullable().openapi({ description: 'The reason, for people' }),
    attempts: z.int().openapi({ description: 'Steps at the vendor that failed in a row', example: 0 }),
    vendor_configuration: FreeFormObject.openapi({ description: 'The configuration that is deployed' }),
    created_at: UtcTimestamp,
    started_at: nullable(UtcTimestamp).openapi({ description: 'When work on it began' }),
    accepted_at: nullable(UtcTimestamp).openapi({ description: 'When the vendor accepted it' }),
    deadline: nullable(UtcTimestamp).openapi({ description: 'When it ends as `timed_out` at the latest' }),
    finished_at: nullable(UtcTimestamp),
    object: z.literal('deployment').optional(),
  })
  .openapi('Deployment', { description: 'One attempt to make the vendor serve, or stop serving, a configuration' })

export const DeploymentList = listOf('DeploymentList', Deployment)

export type Deployment = z.infer<typeof Deployment>
