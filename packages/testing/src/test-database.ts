import { randomBytes } from 'node:crypto'
import { connect, type Database } from '@keelson/database'
import postgres from 'postgres'
import { inject } from 'vitest'
import { databaseUrl, TEMPLATE } from './services.ts'

export type TestDatabase = AsyncDisposable & { url: string; db: Database }

const asAdmin = async (work: (admin: postgres.Sql) => PromiseLike<unknown>) => {
  const admin = postgres(inject('services').databaseUrl, { max: 1, onnotice: () => {} })
  await work(admin)
  await admin.end()
}

/**
 * A database of its own with every migration applied and a connected pool; dropped on dispose, whoever is still
 * connected. Ask for one per test file. Only in the `integration` and `e2e` projects.
 */
export const testDatabase = async (): Promise<TestDatabase> => {
  const name = `test_${randomBytes(8).toString('hex')}`
  await asAdmin((admin) => admin`create database ${admin(name)} template ${admin(TEMPLATE)}`)
  const url = databaseUrl(inject('services').databaseUrl, name)
  const db = connect({ url, applicationName: 'test' })
  return {
    url,
    db,
    [Symbol.asyncDispose]: async () => {
      await db[Symbol.asyncDispose]()
      await asAdmin((admin) => admin`drop database if exists ${admin(name)} with (force)`)
    },
  }
}
