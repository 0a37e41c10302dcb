import type { GPU_TYPES } from '../fields.ts'
import { UncaughtError, VendorError } from '../vendor-error.ts'
import { checkCheckpoint } from './rules.ts'
import type { CreateLlm } from './schema.ts'

/** All six are given, or none and the vendor looks them up. */
export type Hardware = {
  gpus: number
  gpu_type: (typeof GPU_TYPES)[number]
  cpus: string | number
  memory: string | number
  storage: string | number
  nodes_per_worker: number
}

const HARDWARE_FIELDS = ['gpus', 'gpu_type', 'cpus', 'memory', 'storage', 'nodes_per_worker'] as const

const h100 = (gpus: number): Hardware => ({
  gpus,
  gpu_type: 'nvidia-hopper-h100',
  cpus: 10 * gpus,
  memory: `${80 * gpus}Gi`,
  storage: '500Gi',
  nodes_per_worker: 1,
})

/** By the billions of parameters that fit. */
const RECOMMENDED: [upTo: number, hardware: Hardware][] = [
  [8, { ...h100(1), gpu_type: 'nvidia-hopper-h100-1g20gb', memory: '20Gi', storage: '40Gi' }],
  [16, { ...h100(1), gpu_type: 'nvidia-hopper-h100-3g40gb', memory: '40Gi', storage: '80Gi' }],
  [35, h100(1)],
  [72, h100(2)],
  [150, h100(4)],
  [405, h100(8)],
]

/** Billions of parameters, as the name tells. */
const sizeOf = (model: string): number | null => {
  const [, size] = [...model.matchAll(/(\d+)b/gi)].at(-1) ?? []
  return size === undefined ? null : Number(size)
}

const recommend = (model: string, strict: boolean): Hardware => {
  const size = sizeOf(model)
  if (size === null && strict) throw new VendorError(400, `Unable to infer number of parameters for ${model}.`)
  const row = RECOMMENDED.find(([upTo]) => (size ?? 0) <= upTo)
  if (!row) throw new VendorError(400, `Unable to infer hardware for ${model}.`)
  return row[1]
}

export type WithHardware = CreateLlm & Hardware

/**
 * The body with its hardware and the shards that go with it.
 *
 * @throws VendorError 400 when only some of it was given, UncaughtError when some of it is 0
 */
export const withHardware = (body: CreateLlm, strict: boolean): WithHardware => {
  const given = HARDWARE_FIELDS.filter((field) => body[field] !== null)
  if (given.length === 0) {
    checkCheckpoint(body.model_name, body.checkpoint_path)
    const hardware = recommend(body.model_name, strict)
    return { ...body, ...hardware, num_shards: hardware.gpus }
  }
  if (given.length < HARDWARE_FIELDS.length)
    throw new VendorError(
      400,
      'All hardware spec fields (gpus, gpu_type, cpus, memory, storage, nodes_per_worker) must be provided if any hardware spec field is missing.',
    )
  if (HARDWARE_FIELDS.some((field) => !body[field]))
    throw new UncaughtError('Some hardware info is missing unexpectedly.')
  return body as WithHardware
}
