import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

// `node infra/observability/write-dashboard.ts` writes dashboard.json for Grafana from these lines.
const FILE = join(import.meta.dirname, 'dashboard.json')

type Panel = { title: string; unit: string; expr: string; legend: string }

const PANELS: Panel[] = [
  {
    title: 'Requests',
    unit: 'reqps',
    expr: 'sum by (job, status) (rate(http_request_duration_seconds_count[5m]))',
    legend: '{{job}} {{status}}',
  },
  {
    title: 'Time to the answer, p99',
    unit: 's',
    expr: 'histogram_quantile(0.99, sum by (job, le) (rate(http_request_duration_seconds_bucket[5m])))',
    legend: '{{job}}',
  },
  { title: 'In flight', unit: 'none', expr: 'sum by (job) (http_requests_in_flight)', legend: '{{job}}' },
  { title: 'At a time, at most', unit: 'none', expr: 'min by (job) (http_requests_limit)', legend: '{{job}}' },
  {
    title: 'Shed',
    unit: 'reqps',
    expr: 'sum by (job, reason) (rate(http_requests_shed_total[5m]))',
    legend: '{{job}} {{reason}}',
  },
  { title: 'Event loop, p99', unit: 's', expr: 'max by (job) (nodejs_eventloop_lag_p99_seconds)', legend: '{{job}}' },
  { title: 'Memory', unit: 'bytes', expr: 'max by (job) (process_resident_memory_bytes)', legend: '{{job}}' },
  { title: 'Deployments under way', unit: 'none', expr: 'max(deployments_pending)', legend: 'pending' },
  { title: 'Most overdue deployment', unit: 's', expr: 'max(oldest_pending_seconds)', legend: 'oldest' },
  {
    title: 'Deployments ended',
    unit: 'none',
    expr: 'sum by (kind, outcome) (increase(deployments_total[1h]))',
    legend: '{{kind}} {{outcome}}',
  },
  {
    title: 'Who asked for steps',
    unit: 'none',
    expr: 'sum by (source) (rate(reconcile_total[5m]))',
    legend: '{{source}}',
  },
  {
    title: 'Requests to vendors',
    unit: 'reqps',
    expr: 'sum by (vendor, outcome) (rate(vendor_requests_total[5m]))',
    legend: '{{vendor}} {{outcome}}',
  },
  {
    title: 'Time of vendors, p95',
    unit: 's',
    expr: 'histogram_quantile(0.95, sum by (vendor, le) (rate(vendor_request_duration_seconds_bucket[5m])))',
    legend: '{{vendor}}',
  },
  {
    title: 'Rings of the queue',
    unit: 'none',
    expr: 'sum by (job, result) (rate(queue_rings_total[5m]))',
    legend: '{{job}} {{result}}',
  },
  {
    title: 'Webhooks received',
    unit: 'reqps',
    expr: 'sum by (source, result) (rate(webhook_requests_total[5m]))',
    legend: '{{source}} {{result}}',
  },
  {
    title: 'Webhooks that came again',
    unit: 'reqps',
    expr: 'sum by (source) (rate(webhook_dedup_total[5m]))',
    legend: '{{source}}',
  },
  {
    title: 'Attempts at deliveries',
    unit: 'reqps',
    expr: 'sum by (result) (rate(delivery_attempts_total[5m]))',
    legend: '{{result}}',
  },
  {
    title: 'Wait for a connection to Postgres, p90',
    unit: 's',
    expr: 'histogram_quantile(0.9, sum by (job, le) (rate(pg_pool_wait_seconds_bucket[5m])))',
    legend: '{{job}}',
  },
  { title: 'Redis answers', unit: 'none', expr: 'min by (job) (redis_up)', legend: '{{job}}' },
  {
    title: 'Broken invariants',
    unit: 'none',
    expr: 'sum by (invariant) (increase(invariant_violations_total[1h]))',
    legend: '{{invariant}}',
  },
  { title: 'Spans waiting for their commit', unit: 'bytes', expr: 'max(span_queue_bytes)', legend: 'bytes' },
  { title: 'Webhooks to deliver', unit: 'none', expr: 'max(webhook_deliveries_pending)', legend: 'pending' },
  { title: 'Most overdue webhook', unit: 's', expr: 'max(oldest_delivery_seconds)', legend: 'oldest' },
]

const WIDTH = 12
const HEIGHT = 8

const panel = ({ title, unit, expr, legend }: Panel, index: number) => ({
  id: index + 1,
  type: 'timeseries',
  title,
  datasource: { type: 'prometheus', uid: '${datasource}' },
  gridPos: { x: (index % 2) * WIDTH, y: Math.floor(index / 2) * HEIGHT, w: WIDTH, h: HEIGHT },
  fieldConfig: { defaults: { unit }, overrides: [] },
  targets: [{ refId: 'A', expr, legendFormat: legend }],
})

const dashboard = {
  uid: 'keelson',
  title: 'Keelson',
  schemaVersion: 39,
  refresh: '30s',
  time: { from: 'now-6h', to: 'now' },
  templating: { list: [{ name: 'datasource', type: 'datasource', query: 'prometheus' }] },
  panels: PANELS.map(panel),
}

await writeFile(FILE, `${JSON.stringify(dashboard, null, 2)}\n`)
