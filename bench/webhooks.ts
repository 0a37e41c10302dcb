import { fork } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '@keelson/database/migrate'
import { startPostgres } from '@keelson/local-stack'
import { compare, median, valueFigure, writeReport, type Figure } from './harness.ts'
import { load, type Target } from './load.ts'

// What verifying and signing webhooks costs, against the same proxy that does neither:
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
const postgres = stack.use(await startPostgres({ directory, durable: false }))
await migrate(postgres.url)
const agent = await started<{ url: string }>(stack, ['agent'])
const { url, secret } = await started<{ url: string; secret: string }>(stack, [postgres.url, agent.url])

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
const PLAIN = target('/proxy/hooks')
const run = (one: Target, connections: number) => load(url, { connections, seconds: SECONDS }, () => one)

const figures: Figure[] = []
figures.push(
  await compare(
    {
      name: 'verified forward, 1 KB, 32 connections',
      unit: 'requests/s',
      baseline: { name: 'plain proxy', measure: async () => (await run(PLAIN, 32)).perSecond },
      candidate: { name: 'ingress', measure: async () => (await run(VERIFIED, 32)).perSecond },
      goal: { atLeast: 0.7 },
    },
    ROUNDS,
  ),
)

const added: number[] = []
for (let round = 0; round <= ROUNDS; round += 1) {
  const plain = await run(PLAIN, 1)
  const verified = await run(VERIFIED, 1)
  if (round > 0) added.push(verified.p50Ms - plain.p50Ms)
}
figures.push(valueFigure({ name: 'added latency, p50, 1 connection', unit: 'ms', goal: { atMost: 1 }, values: added }))

/** The median time of a refusal, in microseconds; the kinds take turns so that nothing else tells them apart. */
const refusals = async (kinds: readonly { path: string; key: string }[], rounds: number): Promise<number[]> => {
  const times = kinds.map((): number[] => [])
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, { path, key }] of kinds.entries()) {
      const headers = { ...signed, 'x-hub-signature-256': sign(key), 'content-type': 'application/json' }
      const sentAt = performance.now()
      const answer = await fetch(url + path, { method: 'POST', headers, body })
      await answer.arrayBuffer()
      if (answer.status !== 401) throw new Error(`the answer was ${answer.status}`)
      times[index]!.push((performance.now() - sentAt) * 1000)
    }
  }
  return times.map(median)
}
const wrong = { path: '/agents/forward/name/bench/hooks', key: 'wrong' }
const kinds = [
  wrong,
  { path: '/agents/forward/name/nobody/hooks', key: 'wrong' },
  { path: '/agents/forward/name/bench/else', key: secret },
  wrong,
]
const [first = 0, unknownAgent = 0, otherPath = 0, again = 0] = await refusals(kinds, 3000)
const noise = Math.abs(again - first)
const apart = Math.max(Math.abs(unknownAgent - first), Math.abs(otherPath - first))
process.stdout.write(
  `refusals, median µs: wrong ${first.toFixed(0)} and ${again.toFixed(0)}, unknown agent ${unknownAgent.toFixed(0)}, other path ${otherPath.toFixed(0)}\n`,
)
figures.push(
  valueFigure({
    name: `refusals apart (noise ${noise.toFixed(0)} µs)`,
    unit: 'µs',
    goal: { atMost: Math.max(50, 2 * noise) },
    values: [apart],
  }),
)
await writeReport('bench/results/webhooks', 'Webhooks', figures)
process.exitCode = figures.every(({ isMet }) => isMet) ? 0 : 1
