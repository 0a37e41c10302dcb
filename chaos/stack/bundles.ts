import { cp } from 'node:fs/promises'
import { join, resolve } from 'node:path'

/** The work tree, whose bundles `pnpm build` made. */
export const ROOT = resolve(import.meta.dirname, '../..')
export const APPS = ['platform-api', 'agent-api', 'deployer', 'vendor-simulator'] as const

export const distOf = (root: string, app: string): string => join(root, 'apps', app, 'dist')

/** A copy, because somebody may build while they run. */
export const copyBundles = async (from: string, to: string): Promise<void> => {
  for (const app of APPS) await cp(distOf(from, app), distOf(to, app), { recursive: true })
}
