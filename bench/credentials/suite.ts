import type { Bench, Suite } from '../harness/bench.ts'
import type { Load, Request } from '../harness/load-process.ts'
import { startBenchPostgres, type BenchPostgres } from '../harness/postgres.ts'
import { startLoader, startProcess, type Loader, type Started } from '../harness/processes.ts'
import { layOutCredentials, createCredentials } from './fixture.ts'

type CredentialService = Started<{
  url: string
  tokens: string[]
  account_id: string
  identity_id: string
  authenticationUs: number
}>

const LISTED = 100_000
const CONNECTIONS = 16
const PAYLOAD = 'x'.repeat(1024)

type Stage = { bench: Bench; service: CredentialService; postgres: BenchPostgres; loader: Loader }

const newCredential = (name: string) => JSON.stringify({ name, payload: PAYLOAD, type: 'key' })

const loadOf = (
  { bench, service: { url, tokens } }: Stage,
  connections: number,
  requests: readonly Request[],
): Load => ({
  url,
  connections,
  seconds: bench.seconds,
  requests: requests.map((request, index) => ({
    ...request,
    headers: { 'x-api-key': tokens[index % tokens.length]! },
  })),
})

const requests = async (stage: Stage) => {
  const { bench, service, loader, postgres } = stage
  const ids = await createCredentials(
    service,
    Array.from({ length: CONNECTIONS }, (_, n) => newCredential(`bench ${n}`)),
  )
  const loads = {
    get: loadOf(
      stage,
      CONNECTIONS,
      ids.map((id) => ({ method: 'GET', path: `/v5/credentials/${id}` })),
    ),
    reveal: loadOf(
      stage,
      CONNECTIONS,
      ids.map((id) => ({ method: 'POST', path: `/v5/credentials/${id}/secret` })),
    ),
    create: loadOf(
      stage,
      CONNECTIONS,
      ids.map((id) => ({
        method: 'POST',
        path: '/v5/credentials',
        body: newCredential(`${id} {n}`),
      })),
    ),
  }
  let from = 0
  const run = async (kind: keyof typeof loads) => {
    const loaded = await loader.run({ ...loads[kind], from })
    from += loaded.requests + loaded.shed + CONNECTIONS
    return loaded
  }
  const rate = (kind: keyof typeof loads) => async () => (await run(kind)).perSecond
  await bench.compare({
    name: 'audited reveal, 1 KB, 16 connections',
    unit: 'requests/s',
    baseline: { name: 'GET of the same credential', measure: rate('get') },
    candidate: { name: 'reveal', measure: rate('reveal') },
    goal: { atLeast: 0.8 },
  })
  await bench.measure({
    name: 'creates, 16 connections',
    unit: 'per s',
    goal: { atLeast: 2000 },
    measure: rate('create'),
  })
  await bench.measure({
    name: 'reveals, 16 connections',
    unit: 'per s',
    goal: { atLeast: 5000 },
    measure: rate('reveal'),
  })
  const names = { get: 'GET a credential', reveal: 'reveal a credential', create: 'create a credential' } as const
  for (const kind of ['get', 'reveal', 'create'] as const)
    await bench.cost(names[kind], { sql: postgres.sql, pids: [service.pid] }, async () => (await run(kind)).requests)
}

const pages = async (stage: Stage) => {
  const { bench, loader, postgres, service } = stage
  const name = 'list page deep in 100,000 credentials, `total` included, p50'
  if (!bench.isWanted(name)) return
  const ids = await layOutCredentials(postgres.sql, service, bench.size(LISTED))
  const deep = ids[Math.floor(ids.length / 10)]!
  const p50 = (query: string) => async () =>
    (await loader.run(loadOf(stage, 1, [{ method: 'GET', path: `/v5/credentials?limit=100${query}` }]))).p50Ms
  await bench.compare({
    name,
    unit: 'ms',
    baseline: { name: 'first page', measure: p50('') },
    candidate: { name: 'page 900', measure: p50(`&starting_after=${deep}`) },
    goal: { atMost: 1.5 },
  })
}

/** What secrets cost: an audited reveal against a plain GET of the same credential. */
export const credentials: Suite = {
  title: 'Credentials',
  run: async (bench) => {
    await using postgres = await startBenchPostgres()
    using service: CredentialService = await startProcess(new URL('service.ts', import.meta.url), [postgres.url])
    using loader = startLoader()
    const stage = { bench, service, postgres, loader }
    await requests(stage)
    await pages(stage)
    const name = 'authentication, cached'
    bench.value({ name, unit: 'µs', goal: { atMost: 10 }, values: [service.authenticationUs] })
  },
}
