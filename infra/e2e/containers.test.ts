import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { agentRoutes } from '@keelson/contracts/agent'
import { createClient } from '@keelson/contracts/client'
import { createKeyFile } from '@keelson/secrets'
import { eventually, freePort, testRedis } from '@keelson/testing'
import { sign } from '@octokit/webhooks-methods'
import postgres from 'postgres'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { filesOf, removeContainer, runOnce, sizeAboveBase, startContainer, WORK, type Container } from './container.ts'
import { KEY_FILE, PASSWORDS, serviceEnvironments } from './container-environments.ts'
import { startExampleAgent } from './run-example-agent.ts'
import { ROOT } from './run-start.ts'

const APPS = ['platform-api', 'agent-api', 'deployer', 'vendor-simulator', 'operator'] as const
const MiB = 1024 ** 2
const NONROOT = 65_532

const emptyDatabase = async () => {
  const name = `containers_${randomBytes(6).toString('hex')}`
  const admin = postgres(inject('services').databaseUrl, { max: 1, onnotice: () => {} })
  await admin`create database ${admin(name)}`
  const url = Object.assign(new URL(inject('services').databaseUrl), { pathname: `/${name}` })
  return {
    url: url.href,
    as: (username: string, password: string) => Object.assign(new URL(url), { username, password }).href,
    [Symbol.asyncDispose]: async () => {
      await admin`drop database ${admin(name)} with (force)`
      await admin.end()
    },
  }
}

const temporary = async () => {
  const directory = await mkdtemp(join(tmpdir(), 'keelson-containers-'))
  const keyFile = join(directory, 'keys')
  await createKeyFile(keyFile)
  await chown(keyFile, NONROOT, NONROOT)
  return { directory, keyFile, [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }) }
}

type Prepared = { database: Awaited<ReturnType<typeof emptyDatabase>>; redis: string; keyFile: string }

/** Brings the database to its schema, makes the services' users and issues a key, with the operator's image alone. */
const prepare = async ({ database, redis, keyFile }: Prepared) => {
  const owner = { DATABASE_URL: database.url, REDIS_URL: redis, KEY_FILE }
  const operator = (command: string[], env: Record<string, string> = owner) =>
    runOnce('operator', { env, keyFile, command })
  expect(await operator(['migrate-command.js'])).toContain('applied 0001_identity.sql')
  await operator(['service-users-command.js'], { ...owner, ...PASSWORDS })
  const account_id = /acct_\w+/.exec(await operator(['keys-command.js', 'accounts', 'create', 'demo']))?.[0] ?? ''
  const issued = await operator(['keys-command.js', 'issue', '--account', account_id, '--identity', 'demo'])
  return { account_id, api_key: /\b[a-z]+_[A-Za-z0-9]{40,}/.exec(issued)?.[0] ?? '' }
}

const startAll = async ({ database, redis, keyFile }: Prepared) => {
  const port: Record<string, number> = {}
  for (const name of [...APPS, 'webhook-worker']) port[name] = await freePort()
  const running: { app: string; container: Container }[] = []
  for (const [app, env] of Object.entries(serviceEnvironments(database.as, redis, port))) {
    const listen = { HOST: '127.0.0.1', PORT: String(port[app]), METRICS_PORT: String(await freePort()) }
    const container = await startContainer(app, port[app] ?? 0, { env: { ...env, ...listen }, keyFile })
    onTestFinished(async () => void (await removeContainer(container.id)))
    running.push({ app, container })
  }
  return { running, port }
}

const deliverWebhook = async (url: string, api_key: string) => {
  using agent = startExampleAgent(url, api_key, String(await freePort()))
  await eventually(() => expect(agent.lines).toContain('listening'))
  const keelson = createClient(agentRoutes, { baseUrl: url, headers: { authorization: `Bearer ${api_key}` } })
  const trigger = { agent_name: 'triage', name: 'a/b', forward_path: 'hooks/github', delivery: 'durable' as const }
  const { secret, webhook_url = '' } = await keelson.createWebhookTrigger({ body: trigger })
  const push = JSON.stringify({ repository: { full_name: 'a/b' } })
  const headers = { 'x-hub-signature-256': await sign(secret, push) }
  expect((await fetch(webhook_url, { method: 'POST', headers, body: push })).status).toBe(202)
  await eventually(() => expect(agent.lines).toEqual(['listening', `github ${push}`]))
}

describe.skipIf(WORK === '')('the images', () => {
  test.each(APPS)('the image of %s holds its bundle and no shell, package manager, source or map', async (app) => {
    const files = await filesOf(app)
    const ours = files.filter((path) => path.startsWith('/app/'))
    expect(ours.some((path) => path.endsWith('.js'))).toBe(true)
    expect(
      ours.filter((path) => path.endsWith('.ts') || path.endsWith('.map') || path.includes('node_modules')),
    ).toEqual([])
    expect(files.filter((path) => /\/(sh|bash|dash|npm|npx|pnpm|yarn|apt|dpkg)$/.test(path))).toEqual([])
    const size = await sizeAboveBase(app)
    process.stdout.write(`${app}: ${(size / MiB).toFixed(1)} MiB above its base\n`)
    expect(size).toBeLessThan(90 * MiB)
  })

  test.each(['platform-api', 'agent-api', 'webhook-worker', 'deployer'])(
    '%s starts from what V8 made of its bundle when the image was built',
    async (app) => {
      // It ends at once, for want of settings.
      const ended: { code: number; stdout: string; stderr: string } = await runOnce(app, {
        env: { NODE_DEBUG_NATIVE: 'COMPILE_CACHE' },
      }).then(
        (stdout) => ({ code: 0, stdout, stderr: '' }),
        (error: { code: number; stdout: string; stderr: string }) => error,
      )
      const bundle = app === 'webhook-worker' ? app : 'main'
      expect(ended.code).toBe(78)
      expect(ended.stdout + ended.stderr).toContain(`file:///app/${bundle}.js was accepted`)
    },
  )

  test(
    'migrated, keyed and started from the images alone, read-only and unprivileged, the services pass the demo, deliver a webhook and end with 0 on SIGTERM',
    { timeout: 300_000 },
    async () => {
      await using database = await emptyDatabase()
      await using temporaries = await temporary()
      const { directory, keyFile } = temporaries
      const redis = testRedis() ?? ''
      const { account_id, api_key } = await prepare({ database, redis, keyFile })
      const { running, port } = await startAll({ database, redis, keyFile })
      for (const { app, container } of running) {
        const rss = await container.rssBytes()
        process.stdout.write(
          `${app}: ready after ${container.readyMs.toFixed(0)} ms, ${(rss / MiB).toFixed(0)} MiB resident\n`,
        )
        expect({ app, isSmall: rss < 120 * MiB }).toEqual({ app, isSmall: true })
      }

      const url = (app: string) => `http://127.0.0.1:${port[app]}`
      const local = {
        platform_url: url('platform-api'),
        agent_url: url('agent-api'),
        simulator_url: url('vendor-simulator'),
      }
      await writeFile(join(directory, 'local.json'), JSON.stringify({ ...local, account_id, api_key }))
      const demo = await promisify(execFile)(process.execPath, [join(ROOT, 'packages/local-stack/src/demo.ts')], {
        env: { ...process.env, KEELSON_DIRECTORY: directory },
      })
      expect(demo.stdout).toContain('The demo went as expected')
      await deliverWebhook(url('agent-api'), api_key)

      for (const { app, container } of running.toReversed()) {
        const { code, stopMs } = await container.stop()
        process.stdout.write(`${app}: ended with ${code} after ${stopMs.toFixed(0)} ms\n`)
        expect({ app, code }).toEqual({ app, code: 0 })
        expect(stopMs).toBeLessThan(25_000)
      }
    },
  )
})
