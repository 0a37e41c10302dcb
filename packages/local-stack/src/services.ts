/** What the processes of the local stack share. */
export type StackEnvironment = {
  /** What services connect with. */
  database_url: string
  /** Whether that user is one that row-level security does not bind. */
  owns_database: boolean
  redis_url: string | undefined
  key_file: string
  port: Record<ServiceName, number>
}

export type ServiceName = 'vendor-simulator' | 'platform-api' | 'agent-api' | 'webhook-worker' | 'deployer'

/** One process of the local stack. `--<name>-port` and `<NAME>_PORT` override its port. */
export type Service = {
  name: ServiceName
  /** The file to run, below the repository. */
  bundle: string
  port: number
  env: (stack: StackEnvironment) => Record<string, string | undefined>
}

/**
 * What Node is started with, here as in the images: with hundreds of requests under way, twice the young generation
 * halves how often they are copied.
 */
export const NODE_FLAGS = ['--max-semi-space-size=32']

/** For glibc, here as in the images: with an arena for every few threads a busy service holds a tenth more memory. */
export const NODE_ENVIRONMENT = { MALLOC_ARENA_MAX: '1' }

/** A service's metrics are served on its port plus this. */
export const METRICS_OFFSET = 1000

export const localUrl = (port: number) => `http://127.0.0.1:${port}`

const stores = ({ database_url, owns_database, redis_url, key_file }: StackEnvironment) => ({
  DATABASE_URL: database_url,
  ALLOW_DATABASE_OWNER: String(owns_database),
  REDIS_URL: redis_url,
  KEY_FILE: key_file,
})

/** Every process of the local stack with its whole configuration. */
export const SERVICES: readonly Service[] = [
  { name: 'vendor-simulator', bundle: 'apps/vendor-simulator/dist/main.js', port: 8083, env: () => ({}) },
  {
    name: 'platform-api',
    bundle: 'apps/platform-api/dist/main.js',
    port: 8080,
    env: (stack) => ({
      ...stores(stack),
      NATIVE_INFERENCE_GATEWAY: 'enabled',
      PUBLIC_URL: localUrl(stack.port['platform-api']),
    }),
  },
  {
    name: 'agent-api',
    bundle: 'apps/agent-api/dist/main.js',
    port: 8081,
    env: (stack) => ({ ...stores(stack), ALLOW_PRIVATE_AGENTS: 'true', PUBLIC_URL: localUrl(stack.port['agent-api']) }),
  },
  {
    name: 'webhook-worker',
    bundle: 'apps/agent-api/dist/webhook-worker.js',
    port: 8084,
    env: (stack) => ({ ...stores(stack), ALLOW_PRIVATE_AGENTS: 'true' }),
  },
  {
    name: 'deployer',
    bundle: 'apps/deployer/dist/main.js',
    port: 8082,
    env: (stack) => ({
      ...stores(stack),
      LLM_ENGINE_URL: localUrl(stack.port['vendor-simulator']),
      LLM_ENGINE_API_KEY: 'local',
      LAUNCH_URL: localUrl(stack.port['vendor-simulator']),
      LAUNCH_API_KEY: 'local',
    }),
  },
]
