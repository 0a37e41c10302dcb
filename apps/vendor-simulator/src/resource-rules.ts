import { VendorError } from './vendor-error.ts'

/** What one worker may ask for, by the kind of machine it lands on. */

type Limits = { cpus: number; memory: string; storage: string }

const A100: Limits = { cpus: 95, memory: '1000Gi', storage: '640Gi' }
const A10: Limits = { cpus: 63, memory: '250Gi', storage: '640Gi' }
const CPU_ONLY: Limits = { cpus: 7, memory: '30Gi', storage: '640Gi' }

const LIMITS: Record<string, Limits> = {
  'nvidia-tesla-t4': A10,
  'nvidia-ampere-a10': A10,
  'nvidia-ampere-a100': A100,
  'nvidia-ampere-a100e': A100,
  'nvidia-hopper-h100': { cpus: 191, memory: '2000Gi', storage: '1300Gi' },
  'nvidia-hopper-h100-1g20gb': { cpus: 47, memory: '500Gi', storage: '640Gi' },
  'nvidia-hopper-h100-3g40gb': A100,
}

/** What the container in front of the model takes for itself. */
const FORWARDER = { cpus: 1, memory: '2Gi', storage: '1G' }

const UNITS = ['', 'k', 'M', 'G', 'T', 'P', 'E']

/** @returns cores, or `null` when the text is no quantity */
export const parseCpus = (text: string): number | null => {
  if (!/^([0-9]+m?|[0-9]+\.[0-9]+)$/.test(text)) return null
  return text.endsWith('m') ? Number(text.slice(0, -1)) / 1000 : Number(text)
}

/** @returns bytes, or `null` when the text is no quantity */
export const parseBytes = (text: string): number | null => {
  const [, amount, unit = '', binary] = /^([0-9]+(?:\.[0-9]+)?)([kMGTPE]|K(?=i))?(i)?$/.exec(text) ?? []
  if (amount === undefined || (binary && unit === '') || (binary && unit === 'k')) return null
  const power = UNITS.indexOf(unit === 'K' ? 'k' : unit)
  return Math.round(Number(amount) * (binary ? 1024 : 1000) ** power)
}

const readable = (bytes: number): string => {
  const power = Math.min(Math.floor(Math.log2(bytes) / 10), 6)
  return `${(bytes / 1024 ** power).toFixed(1)}${['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'][power] ?? ''}`
}

type Quantity = string | number | null

export type Resources = {
  cpus: Quantity
  memory: Quantity
  storage: Quantity
  gpus: number | null
  gpu_type: string | null
}

type Check = {
  parse: (text: string) => number | null
  limit: number
  reserved: number
  print: (amount: number) => string
}

const check = (name: 'cpus' | 'memory' | 'storage', value: Quantity, gpuType: string | null, rules: Check): void => {
  if (value === null) return
  const asked = typeof value === 'string' ? rules.parse(value) : value
  if (asked === null) throw new VendorError(400, `Requested ${name}='${value}' is incorrectly formatted`)
  if (asked <= 0) throw new VendorError(400, `Requested ${name} must be positive`)
  const total = asked + rules.reserved
  if (total <= rules.limit) return
  const most = rules.print(rules.limit - rules.reserved)
  const machine = gpuType === null ? 'gpu_type=None' : `gpu_type='${gpuType}'`
  throw new VendorError(400, `Requested ${name}=${total} too high. The maximum for ${machine} is ${most}`)
}

/** @throws VendorError 400 */
export const checkResources = ({ cpus, memory, storage, gpus, gpu_type }: Resources): void => {
  if (!gpus && gpu_type !== null)
    throw new VendorError(400, `Cannot have gpus=${gpus ?? 'None'} when gpu_type is not None`)
  if (gpus && gpu_type === null) throw new VendorError(400, 'Must provide gpu_type if gpus > 0')
  const limits = (gpu_type === null ? undefined : LIMITS[gpu_type]) ?? CPU_ONLY
  const bytes = (text: string) => parseBytes(text) ?? 0
  check('cpus', cpus, gpu_type, { parse: parseCpus, limit: limits.cpus, reserved: FORWARDER.cpus, print: String })
  for (const [name, value] of [
    ['memory', memory],
    ['storage', storage],
  ] as const)
    check(name, value, gpu_type, {
      parse: parseBytes,
      limit: bytes(limits[name]),
      reserved: bytes(FORWARDER[name]),
      print: readable,
    })
}
