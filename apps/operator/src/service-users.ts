import { connect } from '@keelson/database'
import { type Secret, setting, type Config } from '@keelson/service-kit'

/** What making the services' logins needs from the environment. */
export const settings = {
  DATABASE_URL: setting.secret({ description: 'the migrated database, as its owner' }),
  PLATFORM_API_PASSWORD: setting.secret({ description: 'the password of the user platform_api' }),
  AGENT_API_PASSWORD: setting.secret({ description: 'the password of the user agent_api' }),
  DEPLOYER_PASSWORD: setting.secret({ description: 'the password of the user deployer' }),
} as const

const ROLES = ['keelson_platform_api', 'keelson_agent_api', 'keelson_deployer']

const ensureUser = async (db: ReturnType<typeof connect>, name: string, password: Secret) => {
  const [{ statement } = { statement: '' }] = await db.sql<{ statement: string }[]>`
    select format(
      case when exists (select from pg_roles where rolname = ${name}) then 'alter role %I login password %L'
      else 'create role %I login password %L' end, ${name}::text, ${password.expose()}::text) as statement`
  await db.sql.unsafe(statement)
  await db.sql.unsafe(`grant keelson_${name} to ${name}`)
}

/** Without a Redis the jobs are in Postgres; BullMQ makes a sequence for each queue as it goes. */
const grantQueue = async (db: ReturnType<typeof connect>) => {
  const [queue] = await db.sql`select from pg_namespace where nspname = 'bullmq'`
  if (!queue) return
  const roles = ROLES.join(', ')
  await db.sql.unsafe(`grant usage, create on schema bullmq to ${roles}`)
  await db.sql.unsafe(`grant select, insert, update, delete on all tables in schema bullmq to ${roles}`)
  await db.sql.unsafe(`grant usage on all sequences in schema bullmq to ${roles}`)
}

/**
 * Makes the login of each service, a member of its service's role alone, and sets its password; run again, it changes
 * the passwords.
 */
export const createServiceUsers = async (config: Config<typeof settings>): Promise<void> => {
  await using db = connect({ url: config.DATABASE_URL.expose(), applicationName: 'service-users', maxConnections: 1 })
  await ensureUser(db, 'platform_api', config.PLATFORM_API_PASSWORD)
  await ensureUser(db, 'agent_api', config.AGENT_API_PASSWORD)
  await ensureUser(db, 'deployer', config.DEPLOYER_PASSWORD)
  await grantQueue(db)
}
