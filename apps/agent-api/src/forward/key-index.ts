import type { WebhookKey } from './keyring.ts'

export type NamedSource = 'github' | 'slack'

/** The secrets of an agent as requests ask for them, so that finding some costs the same however many there are. */
export type KeyIndex = {
  /** GitHub's repositories and organisations, and Slack's apps. */
  named: (source: NamedSource, name: string) => readonly WebhookKey[]
  every: (source: NamedSource) => readonly WebhookKey[]
  /** Keys that sign; their requests do not say which of them. */
  signing: readonly WebhookKey[]
  /** Keys that are shown, by what is kept of them. */
  shown: (digest: Buffer) => readonly WebhookKey[]
}

const NONE: readonly WebhookKey[] = []

const isShown = ({ verification }: WebhookKey): boolean => verification === 'key'

const nameOf = (source: string, name: string): string => `${source} ${name.toLowerCase()}`

export const indexKeys = (keys: readonly WebhookKey[]): KeyIndex => {
  const bySource = Map.groupBy(keys, ({ source }) => source)
  const byName = Map.groupBy(keys, ({ source, name }) => nameOf(source, name))
  const external = bySource.get('external') ?? NONE
  const byDigest = Map.groupBy(external.filter(isShown), ({ secret }) => secret.export().toString('base64'))
  return {
    named: (source, name) => byName.get(nameOf(source, name)) ?? NONE,
    every: (source) => bySource.get(source) ?? NONE,
    signing: external.filter((key) => !isShown(key)),
    shown: (digest) => byDigest.get(digest.toString('base64')) ?? NONE,
  }
}
