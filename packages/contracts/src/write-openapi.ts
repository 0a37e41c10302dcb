import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { agentDocument, platformDocument } from './documents.ts'

// `pnpm openapi` writes the two documents; with --check it only says whether the committed ones are these.
const DIRECTORY = join(import.meta.dirname, '..', 'openapi')
const isCheck = process.argv.includes('--check')

const write = async (name: string, document: object): Promise<void> => {
  const path = join(DIRECTORY, name)
  const text = `${JSON.stringify(document, null, 2)}\n`
  const committed = await readFile(path, 'utf8').catch(() => null)
  if (committed === text) return
  if (isCheck) {
    process.exitCode = 1
    process.stderr.write(`packages/contracts/openapi/${name} is not what the contracts say: run pnpm openapi\n`)
    return
  }
  await writeFile(path, text)
  process.stdout.write(`wrote packages/contracts/openapi/${name}\n`)
}

await mkdir(DIRECTORY, { recursive: true })
await write('platform-api.json', platformDocument())
await write('agent-api.json', agentDocument())
