import type {
  ActivePhase,
  DeployedVendor,
  DeploymentKind,
  FinalPhase,
  ModelAvailability,
  ModelStatus,
  ReasonCode,
} from '@keelson/database/platform'
import type { Spec } from '../vendors/vendor.ts'

/** A deployment as its claim found it. Times are spans measured by the database, so no other clock is asked. */
export type Claim = Spec & {
  id: string
  kind: DeploymentKind
  model_vendor: DeployedVendor
  phase: ActivePhase
  reason_code: ReasonCode | null
  status_message: string | null
  attempts: number
  fence: number
  /** Whether an earlier step may, for all anybody knows, have changed something at the vendor. */
  mayHaveActed: boolean
  /** Whether the model served something when last looked at. */
  model_availability: ModelAvailability
  queuedMs: number
  /** `null` until the vendor accepted this generation. */
  acceptedMs: number | null
  /** Until the deadline; negative after it; `null` until accepted. */
  leftMs: number | null
  /** Until no earlier vendor write of this model can take effect any more, and what is read is not from before them; 0 when so. */
  settlesInMs: number
}

export type ModelChange = {
  status?: ModelStatus
  status_reason?: string | null
  model_availability?: ModelAvailability
}

/** What a step makes of a deployment and its model; written whole or not at all. */
export type Change = {
  phase: ActivePhase | FinalPhase
  reason_code: ReasonCode | null
  status_message: string | null
  attempts: number
  /** The vendor holds this generation: the deadline starts, unless it runs already. */
  accepted: boolean
  /** A vendor write of this step may or may not take effect yet. */
  uncertain: boolean
  /** When to look again; `null` when this ends the deployment. */
  waitMs: number | null
  /** What becomes of the model; a member left out stays. */
  model: ModelChange | 'unchanged' | 'removed'
  /** Whether what is left at the vendor is to be removed by a deployment of its own. */
  cleanup: boolean
}

/** How long things may take, in milliseconds. */
export type Limits = {
  /** From the request to the vendor's acceptance. */
  queueingMs: number
  /** From the vendor's acceptance to serving. */
  deployingMs: number
  /** For a deletion somebody asked for. */
  teardownMs: number
  /** For removing what a failed deployment left behind. */
  cleanupMs: number
  /** After which the vendor answers from no cache and finishes no lost request. */
  settleMs: number
  pollMinMs: number
  pollMaxMs: number
  /** Between the two good readings that make a model ready. */
  confirmMs: number
  retryMinMs: number
  retryMaxMs: number
  /** Failed steps in a row after which an error that may be permanent is taken as permanent. */
  maxAttempts: number
}

export const tearsDown = ({ kind }: Pick<Claim, 'kind'>): boolean => kind === 'delete' || kind === 'cleanup'
