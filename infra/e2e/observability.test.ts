import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { testRedis } from '@keelson/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { ROOT } from './run-start.ts'
import { runningServices, type RunningServices } from './running-services.ts'

const hasRedis = testRedis() !== null
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
  [...expr.replaceAll(/by \([^)]*\)/g, '').matchAll(/\b(up|[a-z]+_[a-z0-9_]+)\b(?=\s*[[{)>=]|$)(?!\()/g)]
    .map(([, name]) => name ?? '')
    .filter((name) => name !== 'histogram_quantile')

/** Whether a target could be asked at all. */
const MADE_BY_PROMETHEUS = 'up'

const EXPRESSIONS = [
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ...dashboard.panels.map(({ title, targets }) => [title, targets.map(({ expr }) => expr).join('\n')] as const),
]

test.each(EXPRESSIONS)('%s asks for series that the running services have', (_name, expr) => {
  const asked = seriesIn(expr)
  expect(asked.length).toBeGreaterThan(0)
  expect(
    asked.filter((name) => !series.has(name) && !(name === 'redis_up' && !hasRedis) && name !== MADE_BY_PROMETHEUS),
  ).toEqual([])
})

const PROMISED = `
  http_request_duration_seconds_bucket http_requests_in_flight http_requests_shed_total nodejs_eventloop_lag_seconds
  pg_pool_wait_seconds_bucket queue_rings_total
  deployments_total deployment_duration_seconds_bucket deployments_pending oldest_pending_seconds reconcile_total
  lease_lost_total vendor_requests_total vendor_request_duration_seconds_bucket orphan_found_total
  invariant_violations_total
  webhook_requests_total webhook_dedup_total delivery_attempts_total webhook_deliveries_pending oldest_delivery_seconds
  span_queue_bytes`

test('the series that operators were promised are there', () => {
  expect(
    PROMISED.trim()
      .split(/\s+/)
      .filter((name) => !series.has(name)),
  ).toEqual([])
  expect(series.has('redis_up')).toBe(hasRedis)
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
