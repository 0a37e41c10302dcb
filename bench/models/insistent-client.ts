import { setTimeout as delay } from 'node:timers/promises'
import { ContractError, ProblemError } from '@keelson/contracts/client'
import type { FaultStack } from './fault-stack.ts'

export type Vendor = 'launch' | 'llmengine'

const IMAGE = { command: ['serve'], registry: 'registry.example.com', repository: 'search/ranker' }

/** A whole configuration unlike any other: a new bundle where the vendor has bundles. */
const configurationOf = (vendor: Vendor, version: string) =>
  vendor === 'launch' ? { model_image: { ...IMAGE, tag: version }, model_infra: {} } : { model: 'llama-3-8b-instruct' }

/** A change of the configuration. */
export const changeTo = (vendor: Vendor, version: number) =>
  vendor === 'launch' ? { model_image: { tag: `changed-${version}` } } : { max_workers: 1 + (version % 100) }

const PAUSE_MS = 50
const PATIENCE_MS = 60_000

const isAnswered = (error: unknown): error is ProblemError => error instanceof ProblemError && error.status < 500

/** A caller as any client is: repeats while nobody answers or the answer is a 5xx, and knows what it asked for before. */
export const insistentClient = ({ platform }: Pick<FaultStack, 'platform'>) => {
  /** @throws ProblemError for a 4xx, and what came last when the patience is over */
  const insist = async <Answer>(call: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> => {
    const deadline = Date.now() + PATIENCE_MS
    for (;;) {
      try {
        return await call(AbortSignal.timeout(10_000))
      } catch (error) {
        if (isAnswered(error) || error instanceof ContractError || Date.now() > deadline) throw error
      }
      await delay(PAUSE_MS)
    }
  }

  const get = (model_id: string) =>
    insist((signal) => platform.getModel({ params: { model_id }, signal })).catch((error: unknown) => {
      if (isAnswered(error) && error.status === 404) return null
      throw error
    })

  return {
    get,
    /** @returns the model's id, also when an earlier try had made it */
    create: async (name: string, vendor: Vendor): Promise<string> => {
      const body = { name, vendor_configuration: configurationOf(vendor, name.replaceAll(' ', '-')) } as never
      try {
        return (await insist((signal) => platform.createModel({ body, signal }))).id
      } catch (error) {
        if (!isAnswered(error) || error.problem.code !== 'model_exists') throw error
        const { items } = await insist((signal) => platform.listModels({ query: { name }, signal }))
        return items[0]!.id
      }
    },
    /** `model_deploying` is how a repetition learns that an earlier try was accepted. */
    update: async (model_id: string, vendor_configuration: object): Promise<void> => {
      const body = { vendor_configuration } as never
      await insist((signal) => platform.updateModel({ params: { model_id }, body, signal })).catch((error: unknown) => {
        if (!isAnswered(error) || error.problem.code !== 'model_deploying') throw error
      })
    },
    remove: async (model_id: string): Promise<void> => {
      const once = () => insist((signal) => platform.deleteModel({ params: { model_id }, signal }))
      await once().catch((error: unknown) => {
        if (!isAnswered(error) || error.status !== 404) throw error
      })
    },
    /** The model once it is not deploying any more; `null` when there is none. */
    settled: async (model_id: string, withinMs: number) => {
      const deadline = Date.now() + withinMs
      for (;;) {
        const model = await get(model_id)
        if (model === null || model.status !== 'deploying' || Date.now() > deadline) return model
        await delay(PAUSE_MS)
      }
    },
  }
}

export type InsistentClient = ReturnType<typeof insistentClient>
