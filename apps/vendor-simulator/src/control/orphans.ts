import { latestRollout } from '../endpoint.ts'
import type { Bundle } from '../model-bundles/bundle.ts'
import type { World } from '../world.ts'

/** What is left at the vendor without an owner at the client's side. */
export type Orphans = {
  /** Names of endpoints nobody expects. */
  endpoints: string[]
  /** Names that are expected and not there. */
  missing: string[]
  /** Ids of clients' bundles that no endpoint uses; the vendor cannot remove them. */
  unused_bundles: string[]
  /** Ids of bundles that repeat an earlier one of the same name and content. */
  duplicate_bundles: string[]
}

const sorted = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
    : value

const repeats = (bundles: Bundle[]): Bundle[] => {
  const seen = new Set<string>()
  return bundles.filter(({ owner, name, flavor }) => {
    const content = JSON.stringify([owner, name, flavor], sorted)
    return seen.has(content) || !seen.add(content)
  })
}

export const orphansOf = ({ endpoints, bundles }: World, expected: readonly string[]): Orphans => {
  const names = new Set([...endpoints.values()].map(({ name }) => name))
  const used = new Set([...endpoints.values()].map((endpoint) => latestRollout(endpoint).row.bundle_id))
  const clients = [...bundles.values()].filter(({ madeBy }) => madeBy === 'client')
  return {
    endpoints: [...names].filter((name) => !expected.includes(name)),
    missing: expected.filter((name) => !names.has(name)),
    unused_bundles: clients.filter(({ id }) => !used.has(id)).map(({ id }) => id),
    duplicate_bundles: repeats(clients).map(({ id }) => id),
  }
}
