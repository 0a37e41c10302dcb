import { connect } from '@keelson/database'

const USER = 'keelson_app'

/**
 * The user that services log in as, as in production: it owns nothing, so row-level security binds it.
 *
 * @param ownerUrl connection string of the owner of a migrated database; its password is used for both
 * @returns the connection string for services
 */
export const createServiceUser = async (ownerUrl: string): Promise<string> => {
  const url = new URL(ownerUrl)
  await using db = connect({ url: ownerUrl, applicationName: 'local-stack', maxConnections: 1 })
  // BullMQ makes a sequence for each queue as it goes.
  await db.sql.unsafe(`
    do $$
    begin
      create role ${USER} login password '${url.password}' in role keelson_service;
    exception
      when duplicate_object or unique_violation then null;
    end
    $$;
    grant usage, create on schema bullmq to keelson_service;
    grant select, insert, update, delete on all tables in schema bullmq to keelson_service;
    grant usage on all sequences in schema bullmq to keelson_service;`)
  return Object.assign(url, { username: USER }).href
}
