import { createHmac, createSecretKey, randomBytes } from 'node:crypto'
import { indexKeys } from '@keelson/agent-api/forward/key-index'
import type { WebhookKey } from '@keelson/agent-api/forward/keyring'
import { provenKeys } from '@keelson/agent-api/forward/verify-request'
import type { Bench } from '../harness/bench.ts'
import { median } from '../harness/figures.ts'

// Whether the time of an answer tells what the ingress knows: kinds of requests take turns, and the first comes twice
// to show how far apart two equal kinds are.

type Kind = { name: string; once: () => unknown }

const spread = async (bench: Bench, name: string, kinds: readonly Kind[], rounds: number, goalUs: number) => {
  if (!bench.isWanted(name)) return
  const all = [...kinds, kinds[0]!]
  const times = all.map((): number[] => [])
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, { once }] of all.entries()) {
      const startedAt = performance.now()
      await once()
      if (round >= rounds / 10) times[index]!.push((performance.now() - startedAt) * 1000)
    }
  }
  const medians = times.map(median)
  const noise = Math.abs(medians.at(-1)! - medians[0]!)
  const shown = kinds.map(({ name }, index) => `${name} ${medians[index]!.toFixed(1)}`)
  process.stdout.write(`${name}, median µs: ${shown.join(', ')}; noise ${noise.toFixed(1)}\n`)
  const apart = Math.max(...medians) - Math.min(...medians)
  bench.value({ name, unit: 'µs apart', goal: { atMost: Math.max(goalUs, Math.ceil(2 * noise)) }, values: [apart] })
}

const KEYS = 20
const ROUNDS = 2000

const githubKeys = (): WebhookKey[] =>
  Array.from({ length: KEYS }, (_, index) => ({
    account_id: 'acct',
    agent_id: 'agent',
    acp_url: 'http://127.0.0.1',
    key_id: String(index),
    name: `octocat/repo-${index}`,
    source: 'github',
    verification: null,
    delivery: 'sync',
    is_disabled: false,
    bound: ['hooks'],
    secret: createSecretKey(randomBytes(32)),
    signingSecret: createSecretKey(randomBytes(32)),
  }))

/** The work of verifying alone: what is valid is then read and forwarded, so its answer cannot be compared. */
const verification = (bench: Bench): Promise<void> => {
  const keys = githubKeys()
  const [crowded, lone, none] = [keys, keys.slice(0, 1), []].map(indexKeys)
  const verify = (repository: string, secret: WebhookKey['secret'], index = crowded!) => {
    const body = Buffer.from(JSON.stringify({ repository: { full_name: repository }, text: 'x'.repeat(950) }))
    const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
    const presented = { scheme: 'github' as const, signature }
    const request = { keys: index, presented, segments: ['hooks'], body, contentType: undefined, nowSeconds: 0 }
    return () => provenKeys(request)
  }
  const [first, second] = [keys[0]!.secret, keys[1]!.secret]
  const kinds = [
    { name: 'wrong', once: verify('octocat/repo-0', second) },
    { name: 'valid', once: verify('octocat/repo-0', first) },
    { name: 'valid, lone key', once: verify('octocat/repo-0', first, lone) },
    { name: 'unknown repository', once: verify('octocat/repo-x', second) },
    { name: 'unknown agent', once: verify('octocat/repo-0', second, none) },
  ]
  return spread(bench, `verifying among ${KEYS} keys`, kinds, bench.size(10 * ROUNDS), 10)
}

type Ingress = { url: string; secret: string; body: string }

/** How little the time of an answer tells of the agents and keys that exist. */
export const timings = async (bench: Bench, { url, secret, body }: Ingress): Promise<void> => {
  const refusal = (agent: string, path: string, text: string, key = 'wrong') => {
    const signature = `sha256=${createHmac('sha256', key).update(text).digest('hex')}`
    const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signature }
    return async () => {
      const answer = await fetch(`${url}/agents/forward/name/${agent}/${path}`, { method: 'POST', headers, body: text })
      await answer.arrayBuffer()
      if (answer.status !== 401) throw new Error(`the answer was ${answer.status}`)
    }
  }
  const kinds = [
    { name: 'wrong signature', once: refusal('bench', 'hooks', body) },
    { name: 'unknown repository', once: refusal('bench', 'hooks', body.replace('hello-world', 'hello-earth')) },
    { name: 'unknown agent', once: refusal('nobody', 'hooks', body) },
    { name: 'other path', once: refusal('bench', 'else', body, secret) },
  ]
  await spread(bench, 'refusals over HTTP', kinds, bench.size(ROUNDS), 50)
  await verification(bench)
}
