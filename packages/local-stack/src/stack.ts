import { once } from 'node:events'
import { join } from 'node:path'
import { buildApps } from './build.ts'
import { lockDirectory } from './directory-lock.ts'
import type { KeptProcess } from './kept-process.ts'
import { writeLocalJson, writeOperatorEnv, type LocalJson } from './local-json.ts'
import type { StackOptions } from './options.ts'
import { checkPorts } from './ports.ts'
import { startPostgres } from './postgres.ts'
import { startService, waitUntilReady } from './service-process.ts'
import { localUrl, SERVICES, type StackEnvironment } from './services.ts'

export type RunningStack = AsyncDisposable & {
  local: LocalJson
  /** Resolves with one line for people as soon as any process of the stack has ended unasked. */
  died: Promise<string>
}

const whenItDies = (name: string, { exited }: Pick<KeptProcess, 'exited'>) =>
  exited.then(({ reason }) => `${name} ${reason}`)

const openDatabase = async (stack: AsyncDisposableStack, { directory, database_url }: StackOptions) => {
  if (database_url !== undefined) return { url: database_url, died: new Promise<string>(() => {}) }
  const server = stack.use(await startPostgres({ directory: join(directory, 'postgres'), durable: true }))
  return { url: server.url, died: whenItDies('Postgres', server) }
}

const startServices = async (
  stack: AsyncDisposableStack,
  root: string,
  environment: StackEnvironment,
  signal: AbortSignal,
) => {
  const started = SERVICES.map((service) => ({ service, process: startService(root, service, environment) }))
  const [vendor, ...callers] = started
  // The vendor stays until nobody is left to call it.
  if (vendor) stack.defer(async () => void (await vendor.process.stop()))
  stack.defer(async () => void (await Promise.all(callers.map((one) => one.process.stop()))))
  const died = Promise.race(started.map((one) => whenItDies(one.service.name, one.process)))
  const failed = new AbortController()
  void died.then((line) => failed.abort(new Error(line)))
  const giveUp = AbortSignal.any([signal, failed.signal])
  await Promise.all(SERVICES.map((service) => waitUntilReady(service, environment, giveUp)))
  return { died }
}

/**
 * Starts everything: bundles, database, schema, keys, account, services. Resolves when every service is ready.
 * Disposing stops the services, then Postgres.
 *
 * @param signal gives up between two steps; what had started is stopped
 * @throws UsageError for what the person can change: a taken port, a stack that already runs
 */
export const startStack = async (options: StackOptions, signal: AbortSignal): Promise<RunningStack> => {
  await using stack = new AsyncDisposableStack()
  stack.use(await lockDirectory(options.directory))
  await checkPorts(options.port)
  const opening = openDatabase(stack, options)
  const building = buildApps(options.root, signal)
  // The largest part of this program loads while others work.
  const loading = import('./prepare.ts')
  await Promise.allSettled([opening, building, loading])
  await building
  const database = await opening
  signal.throwIfAborted()
  const { prepare } = await loading
  const { environment, account } = await prepare(database.url, options)
  signal.throwIfAborted()
  const services = await startServices(stack, options.root, environment, signal)
  const local = {
    platform_url: localUrl(options.port['platform-api']),
    agent_url: localUrl(options.port['agent-api']),
    simulator_url: localUrl(options.port['vendor-simulator']),
    ...account,
  }
  await writeLocalJson(options.directory, local)
  await writeOperatorEnv(options.directory, { DATABASE_URL: database.url, KEY_FILE: environment.key_file })
  const owned = stack.move()
  return {
    local,
    died: Promise.race([services.died, database.died]),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Resolves when `signal` fires. */
export const aborted = async (signal: AbortSignal) => {
  if (!signal.aborted) await once(signal, 'abort')
}
