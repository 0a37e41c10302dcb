import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { ROOT } from './run-start.ts'
import { runningServices, type RunningServices } from './running-services.ts'

const OBSERVABILITY = join(ROOT, 'infra/observability')

type Rule = { alert: string; expr: string; labels: { severity: string }; annotations: { runbook: string } }

const alerts: { groups: { rules: Rule[] }[] } = parse(await readFile(join(OBSERVABILITY, 'alerts.yaml'), 'utf8'))
const rules = alerts.groups.flatMap((group) => group.rules)
const dashboard: { panels: { title: string; targets: { expr: string }[] }[] } = JSON.parse(
  await readFile(join(OBSERVABILITY, 'dashboard.json'), 'utf8'),
)

let services: RunningServices
let series: Set<string>

const names = (metrics: string) =>
  [...metrics.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name = '', type]) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
  )

beforeAll(async () => {
  services = await runningServices(['platform-api', 'agent-api', 'deployer', 'webhook-worker'])
  const pages = await Promise.all(
    (['platform-api', 'agent-api', 'deployer', 'webhook-worker'] as const).map(async (name) =>
      (await fetch(`${services.metricsUrl[name]}/metrics`)).text(),
    ),
  )
  series = new Set(pages.flatMap(names))
})

afterAll(async () => await services?.[Symbol.asyncDispose]())

/** What stands before a selector or a range in an expression, labels and functions aside. */
const seriesIn = (expr: string) =>
  [...expr.replaceAll(/by \([^)]*\)/g, '').matchAll(/\b([a-z]+_[a-z0-9_]+)\b(?=\s*[[{)>]|$)(?!\()/g)]
    .map(([, name]) => name ?? '')
    .filter((name) => name !== 'histogram_quantile')

const EXPRESSIONS = [
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ...dashboard.panels.map(({ title, targets }) => [title, targets.map(({ expr }) => expr).join('\n')] as const),
]

test.each(EXPRESSIONS)('%s asks for series that the running services have', (_name, expr) => {
  const asked = seriesIn(expr)
  expect(asked.length).toBeGreaterThan(0)
  expect(asked.filter((name) => !series.has(name))).toEqual([])
})

test('every alert says how urgent it is, and its runbook has the section it names', async () => {
  const runbook = await readFile(join(ROOT, 'infra/RUNBOOK.md'), 'utf8')
  const anchors = [...runbook.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w ]/g, '')
      .replaceAll(' ', '-'),
  )
  for (const { labels, annotations } of rules) {
    expect(['page', 'ticket']).toContain(labels.severity)
    expect(anchors).toContain(annotations.runbook.split('#')[1])
  }
})

test('labels are bounded: no account, model, key or path is one', async () => {
  const text = await (await fetch(`${services.metricsUrl['platform-api']}/metrics`)).text()
  expect(text).not.toMatch(/(account_id|model_id|key_id|acct_|model_0|path)=?"/)
})
