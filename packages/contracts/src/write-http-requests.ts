import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { httpRequests } from './http-requests.ts'
import { HTTP_SOURCES } from './http-sources.ts'

// `pnpm openapi` writes requests/*.http; with --check it only says whether the committed ones are these.
const DIRECTORY = join(import.meta.dirname, '..', 'requests')
const isCheck = process.argv.includes('--check')

await mkdir(DIRECTORY, { recursive: true })
for (const [name, source] of Object.entries(HTTP_SOURCES)) {
  const path = join(DIRECTORY, `${name}.http`)
  const text = httpRequests(source)
  if ((await readFile(path, 'utf8').catch(() => null)) === text) continue
  if (isCheck) {
    process.exitCode = 1
    process.stderr.write(`packages/contracts/requests/${name}.http is not what the contracts say: run pnpm openapi\n`)
  } else {
    await writeFile(path, text)
    process.stdout.write(`wrote packages/contracts/requests/${name}.http\n`)
  }
}
