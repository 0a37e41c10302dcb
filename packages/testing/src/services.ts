import 'vitest'

/** The migrated database that every test database is cloned from. */
export const TEMPLATE = 'keelson_template'

/** What the global setup hands to the test files; strings only, because it crosses processes. */
export type TestServices = { databaseUrl: string; redisUrl: string; redisDirectory: string }

declare module 'vitest' {
  interface ProvidedContext {
    services: TestServices
  }
}

export const databaseUrl = (server: string, name: string) =>
  Object.assign(new URL(server), { pathname: `/${name}` }).href
