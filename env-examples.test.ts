import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { expect, test } from 'vitest'
import { agentConfig, webhookWorkerConfig } from './apps/agent-api/src/config.ts'
import { deployerConfig } from './apps/deployer/src/config.ts'
import { settings as operatorSettings } from './apps/operator/src/service-users.ts'
import { platformConfig } from './apps/platform-api/src/config.ts'
import { simulatorConfig } from './apps/vendor-simulator/src/config.ts'
import { loadConfig, type Environment } from './packages/service-kit/src/index.ts'

const ENV = join(import.meta.dirname, 'infra/env')

const LOADERS: Record<string, (env: Environment) => object> = {
  'platform-api': platformConfig,
  'agent-api': agentConfig,
  'webhook-worker': webhookWorkerConfig,
  deployer: deployerConfig,
  'vendor-simulator': simulatorConfig,
  operator: (env) => loadConfig(env, operatorSettings),
}

const example = async (app: string) => parseEnv(await readFile(join(ENV, `${app}.env.example`), 'utf8'))

test.each(Object.entries(LOADERS))('the example environment of %s starts it', async (app, load) => {
  expect(load(await example(app))).toBeTypeOf('object')
})

test('every app has an example, and every example an app', async () => {
  const found = (await readdir(ENV)).map((name) => name.replace('.env.example', ''))
  expect(found.toSorted()).toEqual(Object.keys(LOADERS).toSorted())
})
