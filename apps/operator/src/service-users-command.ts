import { ConfigError, loadConfig } from '@keelson/service-kit'
import { createServiceUsers, settings } from './service-users.ts'

const EX_CONFIG = 78

try {
  await createServiceUsers(loadConfig(process.env, settings))
  process.stdout.write('platform_api, agent_api and deployer can log in\n')
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = error instanceof ConfigError ? EX_CONFIG : 1
}
