import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { connect } from '@keelson/database'
import { startPostgres } from '@keelson/local-stack'
import { typeId } from '@keelson/service-kit'
import { load, type LoadResult, type Target } from './load.ts'

/** Figures of the credential store as ratios within one run: `node bench/credentials.ts [--durable] [--seconds 3]`. */
type Started = { url: string; tokens: string[]; account_id: string; identity_id: string; authenticationUs: number }

const ROUNDS = 5
const LISTED = 100_000
const PAYLOAD = 'x'.repeat(1024)
const durable = process.argv.includes('--durable')
const seconds = Number(process.argv[process.argv.indexOf('--seconds') + 1]) || 3

const print = (line: string) => void process.stdout.write(`${line}\n`)
const median = (values: number[]) => values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0

const jsonCall = async ({ url, method, path, headers, body }: Target): Promise<Record<string, unknown>> => {
  const all = { ...headers, 'content-type': 'application/json' }
  for (;;) {
    const response = await fetch(url + path, { method, headers: all, ...(body !== undefined && { body }) })
    if (response.status !== 503) return (await response.json()) as Record<string, unknown>
    await delay(200)
  }
}

const fill = async (databaseUrl: string, { account_id, identity_id }: Started): Promise<string[]> => {
  await using db = connect({ url: databaseUrl, applicationName: 'fill' })
  const ids = Array.from({ length: LISTED }, () => typeId('cred'))
  for (let from = 0; from < LISTED; from += 10_000) {
    await db.sql`
      insert into platform.credentials (account_id, id, name, description, type, credential_metadata,
        created_by_identity_type, created_by_user_id)
      select ${account_id}, id, id, '', 'key', '{}', 'user', ${identity_id}
      from unnest(${ids.slice(from, from + 10_000)}::text[]) as id`
  }
  await db.sql`vacuum analyze platform.credentials`
  return ids.toSorted()
}

const run = async (databaseUrl: string, started: Started): Promise<void> => {
  const { url, tokens } = started
  const keyOf = (connection: number) => ({ 'x-api-key': tokens[connection % tokens.length]! })
  const created = Array.from({ length: 16 }, (_, index) => {
    const body = JSON.stringify({ name: `bench ${index}`, payload: PAYLOAD, type: 'key' })
    return jsonCall({ url, method: 'POST', path: '/v5/credentials', headers: keyOf(0), body })
  })
  const ids = (await Promise.all(created)).map(({ id }) => String(id))
  const at = (connection: number, method: string, suffix = ''): Target => {
    const path = `/v5/credentials/${ids[connection % ids.length]}${suffix}`
    return { url, method, path, headers: keyOf(connection) }
  }
  const get = (connection: number) => at(connection, 'GET')
  const reveal = (connection: number) => at(connection, 'POST', '/secret')
  let made = 0
  const create = (connection: number): Target => {
    const body = JSON.stringify({ name: `made ${++made}`, payload: PAYLOAD, type: 'key' })
    return { url, method: 'POST', path: '/v5/credentials', headers: keyOf(connection), body }
  }
  const measured: Record<string, LoadResult[]> = { get: [], reveal: [], create: [] }
  for (const targetOf of [get, reveal, create]) await load(url, { connections: 16, seconds: 1 }, targetOf)
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, targetOf] of Object.entries({ get, reveal, create })) {
      measured[name]!.push(await load(url, { connections: 16, seconds }, targetOf))
    }
  }
  for (const [name, results] of Object.entries(measured)) {
    const [perSecond, p50, p99] = (['perSecond', 'p50Ms', 'p99Ms'] as const).map((field) =>
      median(results.map((result) => result[field])),
    )
    const shed = results.reduce((sum, result) => sum + result.shed, 0)
    print(`${name}: ${perSecond}/s, ${shed} shed, p50 ${p50!.toFixed(2)} ms, p99 ${p99!.toFixed(2)} ms`)
  }
  const ratios = measured['get']!.map(({ perSecond }, round) => measured['reveal']![round]!.perSecond / perSecond)
  print(`reveal / get: ${median(ratios).toFixed(2)} (wanted: at least 0.80)`)

  const listed = await fill(databaseUrl, started)
  const deep = listed[Math.floor(LISTED / 10)]!
  const listAt = (query: string) => (): Target => ({
    url,
    method: 'GET',
    path: `/v5/credentials?limit=100${query}`,
    headers: keyOf(0),
  })
  const pages: Record<'first' | 'deep', number[]> = { first: [], deep: [] }
  for (let round = 0; round < ROUNDS + 1; round += 1) {
    for (const [name, targetOf] of [
      ['first', listAt('')],
      ['deep', listAt(`&starting_after=${deep}`)],
    ] as const) {
      const { p50Ms } = await load(url, { connections: 1, seconds: 1 }, targetOf)
      if (round > 0) pages[name].push(p50Ms)
    }
  }
  const [first, below] = [median(pages.first), median(pages.deep)]
  print(
    `list of ${LISTED}: first page ${first.toFixed(2)} ms, page 900 ${below.toFixed(2)} ms, ratio ${(below / first).toFixed(2)} (wanted: at most 1.50)`,
  )
  print(`authentication, cached: ${started.authenticationUs.toFixed(2)} microseconds (wanted: under 10)`)
}

const directory = await mkdtemp(join(tmpdir(), 'keelson-bench-credentials-'))
try {
  await using stack = new AsyncDisposableStack()
  const postgres = stack.use(await startPostgres({ directory, durable }))
  const service = fork(new URL('credentials-service.ts', import.meta.url), [postgres.url], { stdio: 'inherit' })
  stack.defer(() => void service.kill())
  const [started] = (await once(service, 'message')) as [Started]
  await run(postgres.url, started)
} finally {
  await rm(directory, { recursive: true, force: true })
}
