import type { Database } from '@keelson/database'
import { ConfigError, loadConfig, setting, type Environment } from '@keelson/service-kit'

const SETTINGS = {
  ALLOW_DATABASE_OWNER: setting.flag({
    default: false,
    description: 'whether a service may use the database as a user that row-level security does not bind; for a laptop',
  }),
}

/**
 * Refuses to serve as a user that row-level security does not bind: a superuser, one that bypasses it, or the owner of
 * the tables.
 *
 * @throws ConfigError naming the user
 */
export const assertBoundRole = async ({ sql }: Pick<Database, 'sql'>, env: Environment): Promise<void> => {
  if (loadConfig(env, SETTINGS).ALLOW_DATABASE_OWNER) return
  const [role] = await sql<{ name: string; is_bound: boolean }[]>`
    select current_user::text as name, not (r.rolsuper or r.rolbypassrls or pg_has_role(c.relowner, 'member')) as is_bound
    from pg_roles r, pg_class c
    where r.rolname = current_user and c.oid = 'identity.account_keys'::regclass`
  if (role?.is_bound) return
  throw new ConfigError([
    `DATABASE_URL: row-level security does not bind the user ${role?.name}; use one that is only a member of keelson_service`,
  ])
}
