import { failing, type Rule } from './rule.ts'
import type { GpuType } from './vendors.ts'

type Most = { cpus: number; memoryGi: number; storageGi: number }

const SMALL_GPU: Most = { cpus: 63, memoryGi: 250, storageGi: 640 }
const A100: Most = { cpus: 95, memoryGi: 1000, storageGi: 640 }
const CPU_ONLY: Most = { cpus: 7, memoryGi: 30, storageGi: 640 }

/** What the vendors' machines have, by GPU. Source: llm-engine, model_endpoint_use_cases, resource limits. */
const MOST: Record<GpuType, Most> = {
  'nvidia-tesla-t4': SMALL_GPU,
  'nvidia-ampere-a10': SMALL_GPU,
  'nvidia-ampere-a100': A100,
  'nvidia-ampere-a100e': A100,
  'nvidia-hopper-h100': { cpus: 191, memoryGi: 2000, storageGi: 1300 },
  'nvidia-hopper-h100-1g20gb': { cpus: 47, memoryGi: 500, storageGi: 640 },
  'nvidia-hopper-h100-3g40gb': A100,
}

/** What the vendor's own container beside the model takes of the machine. */
const RESERVED: Most = { cpus: 1, memoryGi: 2, storageGi: 1 }

const GI = 2 ** 30
const UNITS = ['', 'k', 'M', 'G', 'T', 'P', 'E']

/** Bytes of a quantity such as `8Gi`; `NaN` for what cannot be bytes, such as `500m`. */
const bytesOf = (quantity: string): number => {
  const [, amount, unit = '', binary] = /^([\d.]+)([kKMGTPE]?)(i?)$/.exec(quantity) ?? []
  return Number(amount ?? Number.NaN) * (binary ? 1024 : 1000) ** UNITS.indexOf(unit === 'K' ? 'k' : unit)
}

/** Cores of a quantity such as `500m`; `NaN` for what cannot be cores, such as `8Gi`. */
const coresOf = (quantity: string | number): number => {
  const [, amount, milli] = /^([\d.]+)(m?)$/.exec(String(quantity)) ?? []
  return Number(amount ?? Number.NaN) / (milli ? 1000 : 1)
}

export type Resources = {
  cpus?: string | number | undefined
  memory?: string | undefined
  storage?: string | undefined
  gpu_type?: string | undefined
}

const check = (amount: number | undefined, most: number, path: string, unit: string) =>
  [
    amount !== undefined && !(amount > 0 && amount <= most),
    path,
    `must be more than 0 and at most ${most}${unit} on this kind of machine`,
  ] as const

/** Resources that no machine of the vendors has. */
export const resourceProblems: Rule<Resources> = ({ cpus, memory, storage, gpu_type }) => {
  const most = MOST[gpu_type as GpuType] ?? CPU_ONLY
  return failing([
    check(cpus === undefined ? undefined : coresOf(cpus), most.cpus - RESERVED.cpus, 'cpus', ''),
    check(memory === undefined ? undefined : bytesOf(memory) / GI, most.memoryGi - RESERVED.memoryGi, 'memory', 'Gi'),
    check(
      storage === undefined ? undefined : bytesOf(storage) / GI,
      most.storageGi - RESERVED.storageGi,
      'storage',
      'Gi',
    ),
  ])
}
