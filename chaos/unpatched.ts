import { execFile } from 'node:child_process'
import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Plugin } from 'esbuild'
import type { Unpatched } from './controls.ts'
import { ROOT } from './stack/bundles.ts'

/**
 * Takes our patch back in a copy of the installed package, and bundles the copy in its place.
 *
 * @throws when the patch cannot be taken back
 */
export const takeUnpatched = async ({ name, patch }: Unpatched, directory: string): Promise<Plugin> => {
  const copy = join(directory, 'unpatched', name)
  await cp(join(ROOT, 'packages', 'database', 'node_modules', name), copy, { recursive: true, dereference: true })
  await promisify(execFile)('git', ['apply', '--reverse', join(ROOT, patch)], { cwd: copy })
  const inside = `/node_modules/${name}/src/`
  return {
    name: 'unpatched',
    setup: (build) => {
      build.onLoad({ filter: new RegExp(inside) }, async ({ path }) => {
        const file = path.slice(path.lastIndexOf(inside) + inside.length)
        return { contents: await readFile(join(copy, 'src', file), 'utf8'), loader: 'js' }
      })
    },
  }
}
