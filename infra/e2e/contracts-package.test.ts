import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { ROOT } from './run-start.ts'

const run = promisify(execFile)

const PROGRAM = `
import { createServer } from 'node:http'
import agentDocument from '@keelson/contracts/openapi/agent-api.json' with { type: 'json' }
import { z } from '@keelson/contracts'
import { agentRoutes, Span } from '@keelson/contracts/agent'
import { createClient, ProblemError } from '@keelson/contracts/client'
import { platformDocument } from '@keelson/contracts/documents'

const problem = { type: 'https://keelson.dev/problems/not_found', title: 't', status: 404, detail: 'd', code: 'not_found', request_id: 'r' }
const server = createServer((request, response) =>
  response.writeHead(404, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem)),
)
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
const { port } = server.address() as import('node:net').AddressInfo
const client = createClient(agentRoutes, { baseUrl: \`http://127.0.0.1:\${port}\` })
const failure = await client.getSpan({ params: { span_id: 'unknown' } }).then((span: z.infer<typeof Span>) => span.id, (error: unknown) => error)
server.close()
const said = {
  code: failure instanceof ProblemError ? failure.problem.code : failure,
  accepts: Span.safeParse({}).success,
  operations: Object.keys(agentDocument.paths).length > 10 && 'paths' in platformDocument(),
}
process.stdout.write(JSON.stringify(said))
`

const INSTALLERS = {
  pnpm: ['install', '--prefer-offline', '--ignore-scripts'],
  npm: ['install', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'],
}

test.each(Object.entries(INSTALLERS))(
  'packed and installed into an empty project by %s, the contracts give client, schemas and documents, with their types',
  async (installer, install) => {
    const project = await mkdtemp(join(tmpdir(), 'keelson contracts '))
    const contracts = join(ROOT, 'packages/contracts')
    try {
      await run('pnpm', ['pack', '--pack-destination', project], { cwd: contracts })
      const archive = (await readdir(project)).find((name) => name.endsWith('.tgz')) ?? ''
      const dependencies = { '@keelson/contracts': `file:${archive}`, '@types/node': '24.19.2', typescript: '7.0.2' }
      await writeFile(join(project, 'package.json'), JSON.stringify({ name: 'empty', type: 'module', dependencies }))
      await writeFile(join(project, 'pnpm-workspace.yaml'), 'packages: []\n')
      await writeFile(join(project, 'main.ts'), PROGRAM)
      await run(installer, install, { cwd: project })
      const flags = '--noEmit --strict --module nodenext --resolveJsonModule --skipLibCheck --types node main.ts'.split(
        ' ',
      )
      await run(join(project, 'node_modules/.bin/tsc'), flags, { cwd: project })
      const { stdout } = await run(process.execPath, ['main.ts'], { cwd: project })
      expect(JSON.parse(stdout)).toEqual({ code: 'not_found', accepts: false, operations: true })
    } finally {
      await rm(project, { recursive: true, force: true })
    }
  },
)
