/** Where every container finds the key-encryption keys. */
export const KEY_FILE = '/run/secrets/key-encryption-keys'

/** Of the users that services log in as. */
export const PASSWORDS = {
  PLATFORM_API_PASSWORD: 'platform',
  AGENT_API_PASSWORD: 'agent',
  DEPLOYER_PASSWORD: 'deployer',
}

/** What each container is told, beside where it listens. */
export const serviceEnvironments = (
  as: (user: string, password: string) => string,
  redis: string,
  port: Record<string, number>,
) => {
  const vendor = `http://127.0.0.1:${port['vendor-simulator']}`
  const key = { KEY_FILE }
  const agent = {
    ...key,
    DATABASE_URL: as('agent_api', 'agent'),
    REDIS_URL: redis,
    ALLOW_PRIVATE_AGENTS: 'true',
  }
  return {
    'vendor-simulator': {},
    'platform-api': {
      ...key,
      DATABASE_URL: as('platform_api', 'platform'),
      REDIS_URL: redis,
      NATIVE_INFERENCE_GATEWAY: 'enabled',
    },
    'agent-api': { ...agent, PUBLIC_URL: `http://127.0.0.1:${port['agent-api']}` },
    'webhook-worker': agent,
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
