import { cp, glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { build, type Plugin } from 'esbuild'

const DATABASE = join(import.meta.dirname, 'packages', 'database')
const SERVICE_KIT = join(import.meta.dirname, 'packages', 'service-kit')
const DOCS_ASSETS = ['swagger-ui.css', 'swagger-ui-bundle.js', 'LICENSE']

// Other queue drivers and tracers that BullMQ can use, and a native twin of pg: never installed, asked for only on demand.
const NOT_INSTALLED = ['redis', 'bullmq-otel', '@valkey/valkey-glide', 'pg-native']

const LOADING_MS = 2000

const DEPLOYER = '@keelson/deployer'

/**
 * By how many percent the old generation may grow before it is collected; a deployer's memory is to be the same however
 * many deployments are under way.
 */
const growthOf = (name: string): number => (name === DEPLOYER ? 10 : 40)

// What survives while modules load would grow the young generation to its largest, 30 MB that an idle process holds for
// nothing; from then on it grows with the work again, but for a deployer's.
const afterLoading = (name: string): string =>
  name === DEPLOYER ? '' : `setTimeout(__setFlag, ${LOADING_MS}, '--semi-space-growth-factor=2').unref()`

// CommonJS inside an ES module still expects the first three.
const bannerOf = (name: string): string => `import { createRequire as __createRequire } from 'node:module'
const require = __createRequire(import.meta.url)
const __filename = import.meta.filename
const __dirname = import.meta.dirname
import { setFlagsFromString as __setFlag } from 'node:v8'
__setFlag('--semi-space-growth-factor=1')
__setFlag('--heap-growing-percent=${growthOf(name)}')
${afterLoading(name)}`

const bundle = async (app: string, name: string, dist: string, plugins: Plugin[]) => {
  const entryPoints = []
  for await (const path of glob(['src/main.ts', 'src/*-worker.ts', 'src/**/*-command.ts'], { cwd: app }))
    entryPoints.push({ in: join(app, path), out: basename(path, '.ts') })
  await build({
    entryPoints,
    outdir: dist,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    // Node keeps the source in memory; names stay as they are, for stacks.
    minifyWhitespace: true,
    minifySyntax: true,
    sourcemap: true,
    legalComments: 'linked',
    external: NOT_INSTALLED,
    banner: { js: bannerOf(name) },
    logLevel: 'warning',
    plugins,
  })
}

const copyDocs = async (dist: string) => {
  const assets = dirname(createRequire(join(SERVICE_KIT, 'package.json')).resolve('swagger-ui-dist/package.json'))
  await mkdir(join(dist, 'docs'))
  for (const name of DOCS_ASSETS) await cp(join(assets, name), join(dist, 'docs', name))
}

/**
 * Makes one app into files that run from an empty directory.
 *
 * @param app its folder
 * @param dist the folder to write, emptied first
 */
export const bundleApp = async (app: string, dist: string, plugins: Plugin[] = []): Promise<void> => {
  const { name, dependencies } = JSON.parse(await readFile(join(app, 'package.json'), 'utf8'))
  await rm(dist, { recursive: true, force: true })
  await bundle(app, name, dist, plugins)
  await writeFile(join(dist, 'package.json'), `${JSON.stringify({ name, type: 'module', private: true })}\n`)
  if ('@keelson/contracts' in dependencies) await copyDocs(dist)
  if ('@keelson/database' in dependencies)
    await cp(join(DATABASE, 'migrations'), join(dist, 'migrations'), { recursive: true })
}
