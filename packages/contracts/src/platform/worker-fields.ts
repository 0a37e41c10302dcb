import { z } from '@hono/zod-openapi'
import { Text } from '../text.ts'

/** An amount as Kubernetes writes it: `8Gi`, `500m`, `2`. */
const QUANTITY = /^\d+(\.\d+)?(m|k|[MGTPE]|[KMGTPE]i)?$/

const quantity = (example: string) =>
  z.string().regex(QUANTITY, { error: 'expected a quantity like 8Gi or 500m' }).openapi({ example })

/** Fields that both serving vendors know, for what one worker has and how many there are. */
export const workerFields = {
  gpus: z.int().min(0).openapi({ description: 'GPUs of one worker', example: 1 }),
  high_priority: z.boolean(),
  labels: z
    .record(Text, Text)
    .openapi({ description: 'Kubernetes labels', example: { team: 'search', product: 'answers' } }),
  max_workers: z.int().min(0).openapi({ example: 2 }),
  memory: quantity('8Gi').openapi({ description: 'Memory of one worker' }),
  min_workers: z.int().min(0).openapi({ example: 1 }),
  per_worker: z.int().min(1).openapi({ description: 'Concurrent requests one worker takes', example: 1 }),
  public_inference: z.boolean(),
  storage: quantity('16Gi').openapi({ description: 'Disk of one worker' }),
}

/** CPUs: a number, or a quantity like `500m`. */
export const Cpus = z
  .union([quantity('500m'), z.number().positive()])
  .openapi({ description: 'CPUs of one worker', example: 2 })
