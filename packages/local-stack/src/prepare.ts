import { join } from 'node:path'
import { migrate } from '@keelson/database/migrate'
import { migrateQueue } from '@keelson/queue'
import { createKeyFile } from '@keelson/secrets'
import { prepareAccount } from './account.ts'
import type { StackOptions } from './options.ts'
import { createServiceUser } from './service-user.ts'
import type { StackEnvironment } from './services.ts'

/**
 * Makes a database ready to serve from: schema, keys, account, and the user that services log in as.
 *
 * @param ownerUrl connection string of a user that may change the schema
 */
export const prepare = async (ownerUrl: string, options: StackOptions) => {
  const { directory, redis_url, port } = options
  const key_file = join(directory, 'key-encryption-keys')
  await migrate(ownerUrl)
  await migrateQueue(ownerUrl)
  await createKeyFile(key_file)
  const account = await prepareAccount(ownerUrl, key_file, directory)
  // In a database of somebody else there may be no right to make users.
  const owns_database = options.database_url !== undefined
  const service_url = owns_database ? ownerUrl : await createServiceUser(ownerUrl)
  const environment: StackEnvironment = { database_url: service_url, owns_database, redis_url, key_file, port }
  return { account, environment }
}
