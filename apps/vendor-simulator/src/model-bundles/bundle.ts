import type { JsonObject } from '../endpoint.ts'

export type Flavor = JsonObject & {
  flavor: string
  repository?: string
  tag?: string
  command?: string[]
  worker_command?: string[] | null
  worker_env?: Record<string, string> | null
}

/** An immutable version of an image and how to run it. */
export type Bundle = {
  id: string
  name: string
  owner: string
  metadata: JsonObject
  schema_location: string | null
  flavor: Flavor
  createdWallMs: number
  /** LLM endpoints make their own; clients make the others. */
  madeBy: 'client' | 'llm'
}

const STREAMING = 'streaming_enhanced_runnable_image'

export const isStreaming = ({ flavor }: Bundle): boolean => flavor.flavor === STREAMING

/** Tags that start so are not in any registry. */
export const isMissingTag = (tag: string | undefined): boolean => tag?.startsWith('missing') ?? false

/** The vendor looks up images only where the repository has no registry in front; elsewhere it trusts the caller. */
export const isImageChecked = (repository: string | undefined): boolean => /^[a-z0-9\-_/]*$/.test(repository ?? '')
