import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

// Every path that a document names in backticks or links to must exist.
const documents = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], { encoding: 'utf8' })
  .trim()
  .split('\n')
  .filter(Boolean)
const PATH =
  /`((?:\.\/)?(?:apps|packages|infra|bench|\.ci|\.github)\/[\w./@-]+)`|\]\((?!https?:|#|mailto:)([^)#\s]+)(?:#[^)]*)?\)/g

const missing = documents.flatMap((document) =>
  [...readFileSync(document, 'utf8').matchAll(PATH)]
    .map((match) => ({ document, path: match[1] ?? join(dirname(document), match[2] ?? '') }))
    .filter(({ path }) => !existsSync(path.replace(/\.$/, ''))),
)
for (const { document, path } of missing) process.stdout.write(`${document} names ${path}, which does not exist\n`)
process.exitCode = missing.length === 0 ? 0 : 1
