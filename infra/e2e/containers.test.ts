import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createKeyFile } from '@keelson/secrets'
import { freePort, testRedis } from '@keelson/testing'
import postgres from 'postgres'
import { describe, expect, inject, test } from 'vitest'
import { filesOf, runOnce, sizeAboveBase, startContainer, WORK } from './container.ts'
import { ROOT } from './run-start.ts'

const APPS = ['platform-api', 'agent-api', 'deployer', 'vendor-simulator', 'operator'] as const
const MiB = 1024 ** 2
const NONROOT = 65_532
const KEY_FILE = '/run/secrets/key-encryption-keys'

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

const PASSWORDS = { PLATFORM_API_PASSWORD: 'platform', AGENT_API_PASSWORD: 'agent', DEPLOYER_PASSWORD: 'deployer' }

const serviceEnvironments = (
  as: (user: string, password: string) => string,
  redis: string,
  port: Record<string, number>,
) => {
  const vendor = `http://127.0.0.1:${port['vendor-simulator']}`
  const key = { KEY_FILE }
  return {
    'vendor-simulator': {},
    'platform-api': {
      ...key,
      DATABASE_URL: as('platform_api', 'platform'),
      REDIS_URL: redis,
      NATIVE_INFERENCE_GATEWAY: 'on',
    },
    'agent-api': { ...key, DATABASE_URL: as('agent_api', 'agent'), REDIS_URL: redis },
    deployer: {
      ...key,
      DATABASE_URL: as('deployer', 'deployer'),
      REDIS_URL: redis,
      LLM_ENGINE_URL: vendor,
      LLM_ENGINE_API_KEY: 'local',
      LAUNCH_URL: vendor,
      LAUNCH_API_KEY: 'local',
    },
  }
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

  test(
    'migrated, keyed and started from the images alone, read-only and unprivileged, the services pass the demo and end with 0 on SIGTERM',
    { timeout: 300_000 },
    async () => {
      await using database = await emptyDatabase()
      await using temporaries = await temporary()
      const redis = testRedis() ?? ''
      const { directory, keyFile } = temporaries
      const owner = { DATABASE_URL: database.url, REDIS_URL: redis, KEY_FILE }
      const operator = (command: string[], env: Record<string, string> = owner) =>
        runOnce('operator', { env, keyFile, command })
      expect(await operator(['migrate-command.js'])).toContain('applied 0001_identity.sql')
      await operator(['service-users-command.js'], { ...owner, ...PASSWORDS })
      const account_id = /acct_\w+/.exec(await operator(['keys-command.js', 'accounts', 'create', 'demo']))?.[0] ?? ''
      const issued = await operator(['keys-command.js', 'issue', '--account', account_id, '--identity', 'demo'])
      const api_key = /\bkeelson_\w{40,}|\b[a-z]+_[A-Za-z0-9]{49,}/.exec(issued)?.[0] ?? ''

      const port: Record<string, number> = {}
      for (const name of APPS) port[name] = await freePort()
      const running = []
      for (const [app, env] of Object.entries(serviceEnvironments(database.as, redis, port))) {
        const listen = { HOST: '127.0.0.1', PORT: String(port[app]), METRICS_PORT: String(await freePort()) }
        running.push({
          app,
          container: await startContainer(app, port[app] ?? 0, { env: { ...env, ...listen }, keyFile }),
        })
      }
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

      for (const { app, container } of running.toReversed()) {
        const { code, stopMs } = await container.stop()
        process.stdout.write(`${app}: ended with ${code} after ${stopMs.toFixed(0)} ms\n`)
        expect({ app, code }).toEqual({ app, code: 0 })
        expect(stopMs).toBeLessThan(25_000)
      }
    },
  )
})
