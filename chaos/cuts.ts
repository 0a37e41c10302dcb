import { readFile } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Plugin } from 'esbuild'
import type { Control, Cut } from './controls.ts'
import { takeUnpatched } from './unpatched.ts'
import { APPS, distOf, ROOT } from './stack/bundles.ts'

/** @throws when what is to be cut out does not stand there exactly once */
export const cutOut = (text: string, { file, guard, without }: Cut): string => {
  const [before, after, ...more] = text.split(guard)
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error(`${file} holds this ${more.length === 0 ? 'not once' : 'more than once'}:\n${guard}`)
  return before + without + after
}

/** The path without what pnpm adds in front of a package. */
const isFile = (path: string, file: string): boolean => path.split(sep).join('/').endsWith(`/${file}`)

const cutting = (cuts: readonly Cut[]): Plugin => ({
  name: 'cuts',
  setup: (build) => {
    build.onLoad({ filter: /\.[jt]s$/ }, async ({ path }) => {
      const here = cuts.filter(({ file }) => isFile(path, file))
      if (here.length === 0) return null
      const contents = here.reduce(cutOut, await readFile(path, 'utf8'))
      return { contents, loader: path.endsWith('.ts') ? ('ts' as const) : ('js' as const) }
    })
  },
})

type Builder = { bundleApp: (app: string, dist: string, plugins: Plugin[]) => Promise<void> }

/** Builds every app without the guard, below `directory`. The sources stay as they are. */
export const buildWithout = async (
  { cuts, unpatched }: Pick<Control, 'cuts' | 'unpatched'>,
  directory: string,
): Promise<void> => {
  // What builds the product; at the root, which is no package that one could import from.
  const { bundleApp } = (await import(pathToFileURL(join(ROOT, 'bundle-app.ts')).href)) as Builder
  const plugins = [cutting(cuts), ...(unpatched ? [await takeUnpatched(unpatched, directory)] : [])]
  for (const app of APPS) await bundleApp(join(ROOT, 'apps', app), distOf(directory, app), plugins)
}
