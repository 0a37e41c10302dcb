import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { SERVICES, type ServiceName } from './services.ts'

export type StackOptions = {
  root: string
  /** Data, keys, logs and local.json. */
  directory: string
  database_url: string | undefined
  redis_url: string | undefined
  port: Record<ServiceName, number>
}

/** A mistake of the person who typed the command: its message is all that is printed. */
export class UsageError extends Error {}

const PORT_HELP = SERVICES.map(({ name, port }) => `  --${name}-port ${port}`).join('\n')

export const USAGE = `npm start -- [options]
  --directory .keelson      where data, keys and local.json are kept (KEELSON_DIRECTORY)
${PORT_HELP}
DATABASE_URL and REDIS_URL replace the embedded Postgres and the queue on Postgres.`

export const portVariable = (name: ServiceName) => `${name.toUpperCase().replaceAll('-', '_')}_PORT`

const portOf = (name: ServiceName, text: string) => {
  const port = Number(text)
  if (Number.isInteger(port) && port > 0 && port < 64_536) return port
  throw new UsageError(`The port of ${name} must be a whole number from 1 to 64535, not ${text}`)
}

/**
 * Reads flags, then the environment, then defaults.
 *
 * @throws UsageError for an unknown flag or a port that is none
 */
export const readOptions = (root: string, args: string[], env: NodeJS.ProcessEnv): StackOptions => {
  const flags = Object.fromEntries(
    [...SERVICES.map(({ name }) => `${name}-port`), 'directory'].map((flag) => [flag, { type: 'string' as const }]),
  )
  const values = ((): Record<string, string | boolean | undefined> => {
    try {
      return parseArgs({ args, options: flags }).values
    } catch (error) {
      throw new UsageError(`${(error as Error).message}\n${USAGE}`)
    }
  })()
  const ports = SERVICES.map(({ name, port }) => [
    name,
    portOf(name, String(values[`${name}-port`] ?? (env[portVariable(name)] || port))),
  ])
  return {
    root,
    directory: resolve(root, String(values['directory'] ?? (env['KEELSON_DIRECTORY'] || join(root, '.keelson')))),
    database_url: env['DATABASE_URL'] || undefined,
    redis_url: env['REDIS_URL'] || undefined,
    port: Object.fromEntries(ports),
  }
}
