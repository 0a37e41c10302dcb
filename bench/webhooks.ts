import { fork } from 'node:child_process'
import { createHmac, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '@keelson/database/migrate'
import { startPostgres } from '@keelson/local-stack'
import { compare, measure, valueFigure, writeReport, type Figure } from './harness.ts'
import { load, type Target } from './load.ts'
import { timingFigures } from './webhooks/timing.ts'

// What verifying webhooks costs, against the same proxy that does not, and against one that does not sign either:
//   node bench/webhooks.ts [--rounds 5] [--seconds 3]

const option = (name: string, fallback: number) => {
  const at = process.argv.indexOf(`--${name}`)
  return at === -1 ? fallback : Number(process.argv[at + 1])
}
const ROUNDS = option('rounds', 5)
const SECONDS = option('seconds', 3)

const started = async <Told>(stack: DisposableStack | AsyncDisposableStack, args: string[]): Promise<Told> => {
  const child = fork(new URL('webhooks/service-process.ts', import.meta.url), args)
  stack.defer(() => void child.kill('SIGKILL'))
  const [told] = (await once(child, 'message')) as [Told]
  return told
}

await using stack = new AsyncDisposableStack()
const directory = await mkdtemp(join(tmpdir(), 'keelson bench '))
stack.defer(() => rm(directory, { recursive: true, force: true }))
const postgres = stack.use(await startPostgres({ directory, durable: true }))
await migrate(postgres.url)
const agent = await started<{ url: string }>(stack, ['agent'])
type Ingress = { url: string; secret: string; durableSecret: string }
const { url, secret, durableSecret } = await started<Ingress>(stack, [postgres.url, agent.url])

const repository = { full_name: 'octocat/hello-world' }
const body = JSON.stringify({ repository, text: 'All work and no play. '.repeat(50) })
  .slice(0, 1000)
  .concat('"}')
const sign = (key: string) => `sha256=${createHmac('sha256', key).update(body).digest('hex')}`
const signed = { 'x-github-event': 'push', 'x-github-delivery': 'one', 'x-hub-signature-256': sign(secret) }
const target = (path: string, headers: Record<string, string> = signed): Target => ({
  url,
  method: 'POST',
  path,
  headers,
  body,
})
const VERIFIED = target('/agents/forward/name/bench/hooks')
const UNVERIFIED = target('/unverified/hooks')
const PLAIN = target('/plain/hooks')
const run = (one: Target, connections: number) => load(url, { connections, seconds: SECONDS }, () => one)

const figures: Figure[] = []
for (const [name, baseline] of [
  ['the same proxy without verification', UNVERIFIED],
  ['a proxy that neither verifies nor signs', PLAIN],
] as const) {
  const comparison = {
    name: `verified forward, 1 KB, 32 connections, against ${name}`,
    unit: 'requests/s',
    baseline: { name, measure: async () => (await run(baseline, 32)).perSecond },
    candidate: { name: 'ingress', measure: async () => (await run(VERIFIED, 32)).perSecond },
    goal: { atLeast: 0.7 },
  }
  figures.push(await compare(comparison, ROUNDS))
}

const added: number[] = []
for (let round = 0; round <= ROUNDS; round += 1) {
  const plain = await run(PLAIN, 1)
  const verified = await run(VERIFIED, 1)
  if (round > 0) added.push(verified.p50Ms - plain.p50Ms)
}
figures.push(valueFigure({ name: 'added latency, p50, 1 connection', unit: 'ms', goal: { atMost: 1 }, values: added }))

const durable = () =>
  target('/agents/forward/name/bench/durable', {
    'x-github-event': 'push',
    'x-github-delivery': randomUUID(),
    'x-hub-signature-256': sign(durableSecret),
  })
figures.push(
  await measure(
    {
      name: 'durable events are committed and answered 202, p99, 16 connections',
      unit: 'ms',
      goal: { atMost: 100 },
      measure: async () => (await load(url, { connections: 16, seconds: SECONDS }, durable)).p99Ms,
    },
    ROUNDS,
  ),
)
figures.push(...(await timingFigures({ url, secret, body, rounds: 2000 })))
await writeReport('bench/results/webhooks', 'Webhooks', figures)
process.exitCode = figures.every(({ isMet }) => isMet) ? 0 : 1
