import { failing, type Rule, type RuleProblem } from './rule.ts'

export const MAX_WORKERS = 250
/** Beyond any machine there is: what is more is a mistake. */
const MAX_GPUS = 1024

export type Workers = {
  gpus?: number | undefined
  gpu_type?: string | undefined
  max_workers?: number | undefined
  min_workers?: number | undefined
}

/** Bounds both vendors put on workers. */
export const workerProblems: Rule<Workers> = ({ gpus, min_workers, max_workers }) =>
  failing([
    [gpus !== undefined && gpus > MAX_GPUS, 'gpus', `must be at most ${MAX_GPUS}`],
    [max_workers !== undefined && max_workers > MAX_WORKERS, 'max_workers', `must be at most ${MAX_WORKERS}`],
    [max_workers === 0, 'max_workers', 'must be at least 1'],
    [
      min_workers !== undefined && min_workers > (max_workers ?? MAX_WORKERS),
      'min_workers',
      'must be at most max_workers',
    ],
  ])

/** Only what is asked asynchronously can wait for a first worker: these vendors keep the others at one at least. */
export const scaleProblems = ({ min_workers }: Workers, endpointType: string): RuleProblem[] =>
  failing([
    [min_workers === 0 && endpointType !== 'async', 'min_workers', `must be at least 1 for a ${endpointType} endpoint`],
  ])
