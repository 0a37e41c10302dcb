import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const documents = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], { encoding: 'utf8' })
  .trim()
  .split('\n')
  .filter((path) => path !== '' && existsSync(path))
const textOf = (path: string): string => readFileSync(path, 'utf8')

const PATH =
  /`((?:\.\/)?(?:apps|packages|infra|bench|\.ci|\.github)\/[\w./@-]+)`|\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)]*))?\)/g

/** The anchors that GitHub gives to a document's headings. */
const anchorsOf = (path: string): string[] =>
  [...textOf(path).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )

/** Every path that a document names in backticks or links to must exist, and have the heading that the link names. */
const brokenPaths = documents.flatMap((document) =>
  [...textOf(document).matchAll(PATH)].flatMap(([, named, linked = '', anchor]) => {
    const path = (named ?? (linked === '' ? document : join(dirname(document), linked))).replace(/\.$/, '')
    if (!existsSync(path)) return [`${document} names ${path}, which does not exist`]
    const isThere = anchor === undefined || !path.endsWith('.md') || anchorsOf(path).includes(anchor)
    return isThere ? [] : [`${document} links to ${path}#${anchor}, which has no such heading`]
  }),
)

const sectionOf = (path: string, name: string): string =>
  new RegExp(`<!-- ${name}\\b[^>]*-->([^]*)<!-- /${name} -->`).exec(textOf(path))?.[1] ?? ''

/** Every figure of the README must stand in the results as it stands there, and its verdict in that of chaos. */
const results = textOf('bench/RESULTS.md').split('\n')
const figures = sectionOf('README.md', 'figures')
  .split('\n')
  .filter((line) => line.startsWith('| ['))
  .map((line) => line.split(' | ').slice(1))
const unproven = figures
  .filter((cells) => !results.some((row) => cells.every((cell) => row.includes(cell.replace(/ \|$/, '')))))
  .map((cells) => `README.md tells "${cells.join(' | ')}", which is not in bench/RESULTS.md`)
const [told] = /\*\*[^]*\*\*/.exec(sectionOf('README.md', 'survival')) ?? []
if (told !== undefined && !textOf('bench/CHAOS.md').includes(told))
  unproven.push(`README.md tells ${told}, which is not in bench/CHAOS.md`)

const problems = [...brokenPaths, ...unproven]
for (const problem of problems) process.stdout.write(`${problem}\n`)
process.exitCode = problems.length === 0 ? 0 : 1
