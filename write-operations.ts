import { readFileSync, writeFileSync } from 'node:fs'
import { glob } from 'node:fs/promises'

// The README's table of operations: from the documents, where each is handled from the routes files.
const DOCUMENTS = ['platform-api', 'agent-api'] as const
const BEGIN = '<!-- operations: written by `pnpm openapi` -->'
const END = '<!-- /operations -->'

/** `service.handle(spans.createSpan, …)`, or a raw route that names its operation. */
const HANDLED = /(?:service\.handle\(\s*\w+\.|operationId: ')(\w+)/g

type Document = { paths: Record<string, Record<string, { operationId: string }>> }

const handlers = new Map<string, string>()
for await (const file of glob('apps/*/src/**/*routes.ts')) {
  for (const [, operationId] of readFileSync(file, 'utf8').matchAll(HANDLED)) {
    if (operationId) handlers.set(operationId, file)
  }
}

const rows = DOCUMENTS.flatMap((name) => {
  const { paths } = JSON.parse(readFileSync(`packages/contracts/openapi/${name}.json`, 'utf8')) as Document
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.operationId)
      .map(([method, { operationId }]) => {
        const file = handlers.get(operationId)
        if (!file) throw new Error(`no routes file handles ${operationId}`)
        return `| \`${method.toUpperCase()} ${path}\` | \`${operationId}\` | [${file.replace('apps/', '')}](${file}) |`
      }),
  )
})

const table = [BEGIN, '| operation | operationId | handled in |', '|---|---|---|', ...rows, END].join('\n')
const readme = readFileSync('README.md', 'utf8')
const written = readme.replace(new RegExp(`${BEGIN}[^]*${END}`), table)

if (!process.argv.includes('--check')) writeFileSync('README.md', written)
else if (written !== readme) {
  process.stdout.write("README.md's table of operations is out of date: run `pnpm openapi`\n")
  process.exitCode = 1
}
