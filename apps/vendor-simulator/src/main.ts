import { createLogger, runMain } from '@keelson/service-kit'
import { simulatorConfig } from './config.ts'
import { startSimulator } from './simulator.ts'

await runMain(
  async (stack) => {
    const { host, port, logLevel, options } = simulatorConfig(process.env)
    const log = createLogger({ service: 'vendor-simulator', level: logLevel })
    const simulator = stack.use(await startSimulator({ host, port, ...options }))
    log.info({ host, port: simulator.port }, 'listening')
  },
  { service: 'vendor-simulator' },
)
