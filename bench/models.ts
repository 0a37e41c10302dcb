import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '@keelson/database'
import { startPostgres } from '@keelson/local-stack'
import { typeId } from '@keelson/service-kit'
import { compare, type Figure } from './harness.ts'
import { load, type Target } from './load.ts'

/** Figures of platform-api's models as ratios within one run: `node bench/models.ts [--durable] [--rounds 5]`. */
type Started = { url: string; insertUrl: string; tokens: string[]; account_id: string; identity_id: string }

const LISTED = 100_000
const PAGE = 100
const CONNECTIONS = 4
/** A connection is closed after a thousand requests. */
const SECONDS = 0.5

const fill = async (databaseUrl: string, { account_id, identity_id }: Started): Promise<string[]> => {
  await using db = connect({ url: databaseUrl, applicationName: 'fill' })
  const ids = Array.from({ length: LISTED }, () => typeId('model'))
  for (let from = 0; from < LISTED; from += 10_000) {
    await db.sql`
      insert into platform.models (account_id, id, name, model_type, model_vendor, status, created_by_identity_type,
        created_by_user_id)
      select ${account_id}, id, id, 'generic', 'openai', 'ready', 'user', ${identity_id}
      from unnest(${ids.slice(from, from + 10_000)}::text[]) as id`
  }
  await db.sql`vacuum analyze platform.models`
  return ids.toSorted().toReversed()
}

const p50 = (url: string, connections: number, seconds: number, targetOf: (connection: number) => Target) => async () =>
  (await load(url, { connections, seconds }, targetOf)).p50Ms

/** `POST /v5/models` against a handler that only inserts and commits the same body, and a deep page against the first. */
export const measureModels = async (databaseUrl: string, started: Started, rounds: number): Promise<Figure[]> => {
  const { url, insertUrl, tokens } = started
  const headersOf = (connection: number) => ({ 'x-api-key': tokens[connection % tokens.length]! })
  let made = 0
  const create = (connection: number): Target => {
    const body = JSON.stringify({ name: `made ${(made += 1)}`, vendor_configuration: { model: 'llama-3-8b-instruct' } })
    return { url, method: 'POST', path: '/v5/models', headers: headersOf(connection), body }
  }
  const insert = (connection: number): Target => ({ ...create(connection), url: insertUrl, path: '/' })
  const creates = await compare(
    {
      name: 'POST /v5/models, p50, against a plain INSERT over HTTP',
      unit: 'ms',
      baseline: { name: 'insert', measure: p50(insertUrl, CONNECTIONS, SECONDS, insert) },
      candidate: { name: 'create', measure: p50(url, CONNECTIONS, SECONDS, create) },
      goal: { atMost: 2 },
    },
    rounds,
  )
  const ids = await fill(databaseUrl, started)
  const page = (cursor: string) => (): Target => {
    const path = `/v5/models?limit=${PAGE}&model_vendor=openai${cursor}`
    return { url, method: 'GET', path, headers: headersOf(0) }
  }
  const last = ids[LISTED - PAGE - 1]!
  const pages = await compare(
    {
      name: `page ${LISTED / PAGE} of ${LISTED} models, p50, against page 1`,
      unit: 'ms',
      baseline: { name: 'first', measure: p50(url, 1, 1, page('')) },
      candidate: { name: 'last', measure: p50(url, 1, 1, page(`&starting_after=${last}`)) },
      goal: { atMost: 1.5 },
    },
    rounds,
  )
  return [creates, pages]
}

const run = async (durable: boolean, rounds: number): Promise<Figure[]> => {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'keelson-bench-models-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const postgres = stack.use(await startPostgres({ directory, durable }))
  const service = fork(new URL('models/service.ts', import.meta.url), [postgres.url], { stdio: 'inherit' })
  stack.defer(() => void service.kill())
  const [started] = (await once(service, 'message')) as [Started]
  return measureModels(postgres.url, started, rounds)
}

if (import.meta.main) {
  const rounds = Number(process.argv[process.argv.indexOf('--rounds') + 1]) || 5
  const figures = await run(process.argv.includes('--durable'), rounds)
  process.exitCode = figures.every(({ isMet }) => isMet) ? 0 : 1
}
