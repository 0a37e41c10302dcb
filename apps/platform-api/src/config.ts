import { BODY_LIMIT_BYTES } from '@keelson/contracts'
import { platformRoutes } from '@keelson/contracts/platform'
import {
  bodyLimitSetting,
  edgeSettings,
  loadConfig,
  processSettings,
  connectionSettings,
  setting,
  type Config,
  type Environment,
} from '@keelson/service-kit'

/** What platform-api needs from its environment. */
export const settings = {
  ...processSettings({ port: 8080, metricsPort: 9080, serves: 'the API', wakes: 'the deployer' }),
  ...connectionSettings(10),
  ...edgeSettings,
  MAX_REQUEST_BYTES: bodyLimitSetting(BODY_LIMIT_BYTES, 'the body of a request'),
  AUDIT_CHECKPOINT_FILE: setting.string({
    default: null,
    description: 'the file that checkpoints of the audit log are appended to; unset, they are logged',
  }),
  NATIVE_INFERENCE_GATEWAY: setting.flag({ default: false, description: 'whether hosted models may be registered' }),
} as const

export const platformConfig = (env: Environment): Config<typeof settings> => loadConfig(env, settings)

/** What bodies may weigh, by operation. */
export const bodyLimits = (config: Config<typeof settings>): Readonly<Record<string, number>> =>
  Object.fromEntries(
    platformRoutes
      .filter(({ schemas }) => 'body' in schemas)
      .map(({ operationId }) => [operationId, config.MAX_REQUEST_BYTES]),
  )
